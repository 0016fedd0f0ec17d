//! Hypervisor and container in which this process is running.

use record::environment::{NONE, host};

use super::fact::Fact;
use super::processor::first_processor;
use super::root::Root;

pub(super) fn facts(root: &Root) -> [Fact; 2] {
    [
        (host::VIRTUALISATION_HYPERVISOR, hypervisor(root)),
        (host::VIRTUALISATION_CONTAINER, container(root)),
    ]
}

/// Words in the vendor or the product name of the firmware that identify a hypervisor, with the
/// hypervisor's name.
const HYPERVISOR_NAMES: [(&str, &str); 11] = [
    ("QEMU", "QEMU"),
    ("KVM", "KVM"),
    ("Amazon EC2", "Amazon EC2"),
    ("Google", "Google Compute Engine"),
    ("VMware", "VMware"),
    ("innotek", "VirtualBox"),
    ("VirtualBox", "VirtualBox"),
    ("Xen", "Xen"),
    ("Virtual Machine", "Hyper-V"),
    ("Parallels", "Parallels"),
    ("OpenStack", "OpenStack"),
];

/// Returns the name of the hypervisor, or a phrase if its name is unknown; [`NONE`] on a machine
/// without a hypervisor. Processors of the x86 family have a flag that shows a hypervisor (CPUID
/// leaf 1, ECX bit 31); on other processors, only the kernel's `/sys/hypervisor` or the firmware
/// shows it.
fn hypervisor(root: &Root) -> Option<String> {
    let firmware = ["sys_vendor", "product_name"]
        .map(|name| root.line(&format!("sys/class/dmi/id/{name}")).unwrap_or_default());
    let is_in = |word: &str| firmware.iter().any(|text| text.contains(word));
    let maker =
        HYPERVISOR_NAMES.iter().find(|(word, _)| is_in(word)).map(|(_, name)| (*name).to_owned());
    let flags = first_processor(root).get("flags");
    let flagged = flags.map(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    match (flagged, root.line("sys/hypervisor/type"), maker) {
        (_, Some(kind), _) => Some(kind),
        // Some of these vendors also sell machines without a hypervisor.
        (Some(false), None, _) => Some(NONE.to_owned()),
        (Some(true), None, maker) => {
            Some(maker.unwrap_or_else(|| "yes, without a name".to_owned()))
        }
        (None, None, maker) => maker,
    }
}

/// Words in the control groups of process 1 that identify a container, with the name of the
/// container manager.
const CONTAINER_NAMES: [(&str, &str); 5] = [
    ("kubepods", "kubernetes"),
    ("docker", "docker"),
    ("libpod", "podman"),
    ("containerd", "containerd"),
    ("lxc", "lxc"),
];

fn container(root: &Root) -> Option<String> {
    // The file names the container manager in which systemd was started.
    if let Some(reported) = root.line("run/systemd/container") {
        return Some(reported);
    }
    let marks = [("run/.containerenv", "podman"), (".dockerenv", "docker")];
    if let Some((_, name)) = marks.iter().find(|(path, _)| root.exists(path)) {
        return Some((*name).to_owned());
    }
    let groups = root.text("proc/1/cgroup")?;
    if groups.trim().is_empty() {
        return None;
    }
    let found = CONTAINER_NAMES.iter().find(|(word, _)| groups.contains(word));
    Some(found.map_or(NONE, |(_, name)| name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::TestRoot;

    fn with_flags(flags: &str) -> TestRoot {
        TestRoot::new().with("proc/cpuinfo", format!("processor : 0\nflags\t: fpu {flags} vme\n\n"))
    }

    #[test]
    fn a_hypervisor_has_its_name_or_at_least_its_flag() {
        let check = |planted: TestRoot, expected: Option<&str>| {
            assert_eq!(hypervisor(&planted.root).as_deref(), expected);
        };
        check(TestRoot::new(), None);
        check(with_flags("tsc"), Some("none"));
        check(with_flags("hypervisor"), Some("yes, without a name"));
        let vendor = "sys/class/dmi/id/sys_vendor";
        check(with_flags("hypervisor").with(vendor, "QEMU\n"), Some("QEMU"));
        check(with_flags("tsc").with(vendor, "Amazon EC2\n"), Some("none"));
        check(TestRoot::new().with(vendor, "Amazon EC2\n"), Some("Amazon EC2"));
        check(TestRoot::new().with(vendor, "Dell Inc.\n"), None);
        let product = "sys/class/dmi/id/product_name";
        check(with_flags("hypervisor").with(product, "Virtual Machine\n"), Some("Hyper-V"));
        check(with_flags("hypervisor").with("sys/hypervisor/type", "xen\n"), Some("xen"));
    }

    #[test]
    fn container_is_detected() {
        let check = |path: &str, content: &str, expected: Option<&str>| {
            assert_eq!(container(&TestRoot::new().with(path, content).root).as_deref(), expected);
        };
        check(".dockerenv", "", Some("docker"));
        check("run/.containerenv", "engine=podman\n", Some("podman"));
        check("run/systemd/container", "systemd-nspawn\n", Some("systemd-nspawn"));
        check("proc/1/cgroup", "0::/kubepods/besteffort/pod1\n", Some("kubernetes"));
        check("proc/1/cgroup", "0::/init.scope\n", Some("none"));
        check("proc/1/cgroup", "", None);
        check("etc/hostname", "a\n", None);
    }
}
