//! Invariant 8: the value of a parameter that reaches a password appears in no output about a plan.

use std::collections::BTreeMap;

use base::Severity;
use workload::question::experiment_in;
use workload::{Overrides, Placeholders, Plan};

use crate::{files, render};

const PASSWORD: &str = "s3cr3t-Pa55";

/// Returns the plan of a file and all output about it.
fn shown(text: &str, set: &[&str]) -> (Option<Plan>, String) {
    let set = set.iter().map(|set| set.split_once('=').expect("a setting"));
    let overrides =
        set.fold(Overrides::default(), |all, (name, value)| all.with_param(name, value));
    let (plan, found) = workload::plan_in(text, &overrides, &files());
    let mut all = render(text, &found);
    if let Some(plan) = &plan {
        all.push_str(&plan.to_text());
        all.push_str(&format!("{:?}", plan.with_secrets_hidden()));
        for either in plan.with_secrets_hidden().jobs_and_parts() {
            for statement in &either.requests().statements {
                all.push_str(&statement.text(Placeholders::Question));
            }
        }
        let printed = plan.to_text();
        let (again, found) = workload::plan_in(&printed, &Overrides::default(), &files());
        let again = again.unwrap_or_else(|| panic!("{printed}\n{}", render(&printed, &found)));
        assert_eq!(again.as_printed(), plan.as_printed(), "{printed}");
        assert_eq!(again.to_text(), printed);
    }
    (plan, all)
}

fn assert_silent(text: &str, set: &[&str]) -> (Plan, String) {
    let (plan, all) = shown(text, set);
    assert!(!all.contains(PASSWORD), "{text}\n{all}");
    (plan.unwrap_or_else(|| panic!("{all}")), all)
}

const READ: &str = "[read]\nquery = select 1\n";

#[test]
fn invariant_8_parameter_in_the_password_of_a_url_is_never_shown() {
    for (params, url) in [
        ("pw = s3cr3t-Pa55", "postgres://ann:${pw}@h/d"),
        ("pw = 's3cr3t-Pa55'", "mysql://ann:${pw}@h:3306/d?tls=off"),
        ("base = s3cr3t-Pa55\npw = ${base}", "postgres://ann:${pw}@h/d"),
        ("base = s3cr3t-Pa55\npw = x${base}y\nmore = ${base}!", "postgres://ann:${pw}@h/d"),
        ("login = ann:s3cr3t-Pa55", "postgres://${login}@h/d"),
        ("whole = postgres://ann:s3cr3t-Pa55@h/d", "${whole}"),
        ("a = s3cr3t\nb = -Pa55\nc = ${a}${b}", "postgres://ann:${a}${b}@h/d"),
        ("pw = s3cr3t-Pa55\nu = ann\nh = db1", "postgres://${u}:${pw}@${h}/${u}"),
        ("pw = s3cr3t-Pa55", "postgres://ann:${'x'}${pw}@h/d"),
    ] {
        let (plan, all) = assert_silent(&format!("url = {url}\n[params]\n{params}\n{READ}"), &[]);
        assert!(plan.hidden.is_some() && all.contains("(secret)"), "{params}: {all}");
        assert!(all.contains("://ann@"), "{all}");
        let text = format!("[params]\n{params}\n[target t]\nurl = {url}\n{READ}target = t\n");
        assert_silent(&text, &[]);
    }
    let text = format!("url = postgres://ann:${{pw}}@h/d\n[params]\npw = none\n{READ}");
    let (plan, _) = assert_silent(&text, &["pw=s3cr3t-Pa55"]);
    assert!(plan.is_secret("pw") && !plan.is_secret("ann"));
}

#[test]
fn invariant_8_line_with_a_refused_url_is_shown_without_its_password() {
    for url in ["postgres://h/d?password=s3cr3t-Pa55", "mysql://ann:s3cr3t-Pa55/d"] {
        let (plan, all) = shown(&format!("url = {url}\n{READ}"), &[]);
        assert!(plan.is_none() && all.contains("error: "), "{all}");
        assert!(!all.contains(PASSWORD), "{all}");
    }
}

#[test]
fn invariant_8_password_of_an_account_or_a_connection_is_never_shown() {
    for (param, section) in [
        ("pw = s3cr3t-Pa55", "[setup]\nquery = set password for ann = ${pw}\n"),
        ("pw = s3cr3t-Pa55", "[setup]\nquery = alter user u identified with x by ${pw}\n"),
        ("pw = s3cr3t-Pa55", "[setup]\nquery = alter user u identified by ${new} replace ${pw}\n"),
        ("pw = s3cr3t-Pa55", "[setup]\nquery = set password = ${new} replace ${pw}\n"),
        ("pw = host=h password=s3cr3t-Pa55", "[a]\nquery = select dblink(${pw}, 'select 1')\n"),
        ("pw = s3cr3t-Pa55", "[a]\ncommand = curl -uann:${pw} http://h\n"),
        ("pw = s3cr3t-Pa55", "[a]\ncommand = redis-cli -a ${pw} ping\n"),
    ] {
        let text = format!("[params]\nnew = other-Pa55\n{param}\n{section}{READ}");
        let (plan, _) = assert_silent(&text, &[]);
        assert!(plan.is_secret("pw"), "{section}");
    }
}

#[test]
fn invariant_8_secret_in_statements_is_sent_and_not_shown() {
    let text = "url = postgres://ann:${pw}@h/d\n[params]\npw = s3cr3t-Pa55\n[setup]\n\
                query = alter role ann password ${pw}\n[read]\nlet = x: pw\n\
                query = select ${x}, ${pw}, '${raw(pw)}'\n[teardown]\nquery = drop ${raw(pw)}\n";
    let (plan, all) = assert_silent(text, &[]);
    assert_eq!(plan.setup[0].text, format!("alter role ann password '{PASSWORD}'"));
    assert_eq!(plan.teardown[0].text, format!("drop {PASSWORD}"));
    assert!(format!("{:?}", plan.jobs[0]).contains(PASSWORD));
    assert!(all.contains("alter role ann password '(secret)'"), "{all}");
}

#[test]
fn invariant_8_secret_is_removed_from_a_literal_that_a_database_writes_with_escapes() {
    let text = format!("url = postgres://ann:${{pw}}@h/d\n[params]\npw = hunt\\er2\n{READ}");
    let (plan, found) = shown(&text, &[]);
    let secrets = plan.unwrap_or_else(|| panic!("{found}")).secrets();
    for written in [r"'hunt\er2'", r"E'hunt\\er2'::text", r"prefix-hunt\\er2"] {
        let hidden = secrets.hide(&format!("default {written}"));
        assert!(hidden.contains("(secret)") && !hidden.contains("hunt"), "{written}: {hidden}");
    }
}

#[test]
fn invariant_8_secret_is_removed_from_a_literal_whose_backslashes_are_doubled() {
    let text = "url = mysql://ann:${pw}@h/d\n[params]\npw = hunt\\er2\n[setup]\n\
                query = set password for ann = ${pw}\n";
    let (plan, all) = shown(text, &[]);
    assert!(!all.contains("hunt"), "{all}");
    let plan = plan.unwrap_or_else(|| panic!("{all}"));
    assert_eq!(plan.setup[0].text, r"set password for ann = 'hunt\\er2'");
    assert!(!plan.secrets().hide(&plan.setup[0].text).contains("hunt"));
}

#[test]
fn invariant_8_password_of_a_program_or_a_user_is_a_secret() {
    for job in [
        "[a]\ncommand = psql postgres://ann:${pw}@h/d -c x\n",
        "[a]\ncommand = PGPASSWORD=${pw} psql -c x\n",
        "[a]\ncommand = mysql --password=\"${raw(pw)}\"\n",
        "[a]\nlet = x: pw\ncommand = mysql --password=${x}\n",
        "[a]\ncommand = psql ${dsn}\n",
        "[a]\ncommand = loader ann:${pw}@tcp(h)/d\n",
        "[a]\ncommand = loader --dsn ${pw}\n",
        "[a]\ncommand = mysql -p${pw} -e x\n",
        "[a]\nlet = x: pw\ncommand = mysql -p${x} -e x\n",
        "[a]\ncommand = curl -H \"Authorization: Bearer ${raw(pw)}\" x\n",
        "[a]\ncommand = curl -H X-Api-Key:${pw} x\n",
        "[a]\ncommand = curl -u ann:${pw} x\n",
        "[a]\ncommand = GITHUB_TOKEN=${pw} x\n",
        "[setup]\nquery = create user u identified by ${pw}\n",
        "[setup]\nquery = create role u password '${raw(pw)}'\n",
    ] {
        let params = "[params]\npw = s3cr3t-Pa55\ndsn = postgres://ann:${pw}@h/d\n";
        let (plan, _) = assert_silent(&format!("{params}{job}"), &[]);
        assert!(plan.is_secret("pw"), "{job}");
    }
}

/// The file and the command line are recorded as a whole, whatever the database.
#[test]
fn invariant_8_password_for_another_database_is_never_shown() {
    for section in [
        "[setup]\nquery.postgres = alter role app password '${raw(pw)}'\n\
         query.mysql = alter user app identified by '${raw(pw)}'\n",
        "[a]\nquery = select 1\nquery.mysql = select login(${json(password: pw)})\n",
        "[a]\ncommand = x\ncommand.postgres = PGPASSWORD=${pw} psql -c x\n",
        "[a]\ncommand.sqlite = x\ncommand = PGPASSWORD=${pw} psql -c x\n",
        "[a]\nlet.mysql = x: pw\nquery = select 1\nquery.mysql = set password = '${raw(x)}'\n",
        "[a]\nlet.mysql = x: pw\nlet.sqlite = x: 1\nquery = select login(password => ${x})\n",
        "[target t]\nurl = sqlite:a.db\nurl.mysql = mysql://ann:${pw}@h/d\n\
         [a]\nquery = select 1\ntarget = t\n",
    ] {
        let text = format!("[params]\npw = none\n{section}{READ}");
        let (plan, all) = assert_silent(&text, &["pw=s3cr3t-Pa55"]);
        assert!(plan.is_secret("pw") && all.contains("(secret)"), "{section}");
    }
}

#[test]
fn faults_and_other_parameters_in_lines_for_another_database_are_ignored() {
    let text = "[params]\np = 5433\n[setup]\nquery.mysql = ${nothing} '${\nquery.mysql = x;\n\
                [a]\nquery = select 1\nrate = ${p}\nlet.mysql = x: nothing(\n\
                query.mysql = select ${p} where password = ${x}\nquery-file.mysql = none.sql\n\
                [b]\ncommand.sqlite = x\ncommand = psql -p ${p}\n";
    let (plan, found) = workload::plan_in(text, &Overrides::default(), &files());
    assert!(found.is_empty(), "{}", render(text, &found));
    assert!(plan.is_some_and(|plan| plan.hidden.is_none()));
}

#[test]
fn invariant_8_password_in_a_literal_or_an_argument_is_a_secret() {
    for statement in [
        "alter role app password E'${raw(pw)}'",
        "alter role app password $p$${raw(pw)}$p$",
        "call set_login(password => ${pw})",
        "select login(${json(user: 'ann', password: pw)})",
        "select login(${json('user': 'ann', 'pw': pick(pw, 'x'))})",
        "select login(${json(login: json(user: 'ann', token: pw))})",
    ] {
        let text = format!("[params]\npw = s3cr3t-Pa55\n[a]\nquery = {statement}\n");
        let (plan, _) = assert_silent(&text, &[]);
        assert!(plan.is_secret("pw"), "{statement}");
    }
    let of_job = "[a]\nlet = y: pw, x: json(password: y)\nquery = select login(${x})\n";
    let (plan, _) = assert_silent(&format!("[params]\npw = s3cr3t-Pa55\n{of_job}"), &[]);
    assert!(plan.is_secret("pw"));
}

#[test]
fn parameter_that_is_compared_or_sets_a_range_is_not_a_secret() {
    for statement in [
        "select 1 from t where token > ${n}",
        "select login(${json(user: n, max_tokens: n)})",
        "select login(${json(token: text(n))})",
        "select login(${json(token: null(0.1, text(n)))})",
        "select login(${json(token: weighted(text(n): 2, 'b': 1))})",
    ] {
        let text = format!("[params]\nn = 5\n[a]\nquery = {statement}\nrate = ${{n}}\n");
        let (plan, found) = shown(&text, &[]);
        assert!(plan.unwrap_or_else(|| panic!("{found}")).hidden.is_none(), "{statement}");
    }
}

#[test]
fn invariant_8_password_behind_thousands_of_variables_is_a_secret() {
    let lets: String = (1..3_000).map(|number| format!(", x{number}: x{}", number - 1)).collect();
    let text = format!(
        "[params]\npw = s3cr3t-Pa55\nn = 5\n[a]\nlet = x0: pw{lets}\n\
         command = mysql -p${{x2999}} -e x\n[b]\nlet = x2999: n\nquery = select ${{x2999}}\n"
    );
    let (plan, _) = assert_silent(&text, &[]);
    assert!(plan.is_secret("pw") && !plan.is_secret("n"));
}

#[test]
fn parameter_beside_a_password_in_another_one_is_not_a_secret() {
    let params = "[params]\npw = s3cr3t-Pa55\nn = 5\nboth = ${pw}-${n}\n";
    let text = format!("url = postgres://ann:${{pw}}@h/d\n{params}{READ}rate = ${{n}}\n");
    let (plan, _) = assert_silent(&text, &[]);
    assert!(plan.is_secret("both") && !plan.is_secret("n"));
    let text = format!("url = postgres://ann:${{both}}@h/d\n{params}{READ}");
    let (plan, _) = assert_silent(&text, &[]);
    assert!(plan.is_secret("both") && plan.is_secret("pw") && plan.is_secret("n"));
}

#[test]
fn invariant_8_secret_of_one_arm_is_one_of_all_arms() {
    let workload = "url = postgres://ann@h/d\nduration = 1s\n[params]\npw = none\nauth = none\n\
                    [a]\ncommand = x ${auth}\nrate = 10\n[b]\nquery = select ${pw}\nrate = 10\n";
    let files = BTreeMap::from([("w.ini".to_owned(), workload.as_bytes().to_vec())]);
    let overrides = Overrides::default().with_param("pw", PASSWORD);
    for (of_question, of_arm) in [
        ("", "before = alter role ann password ${pw}"),
        ("", "before = analyze\nafter = alter role ann password '${raw(pw)}'"),
        ("restore = alter role ann password ${pw}\n", "rate(b) = 20"),
        ("", "set.auth = host=h password=${pw}"),
    ] {
        let question = "[question]\nask = ?\nworkload = w.ini\nrounds = 6\n";
        let text = format!("{question}{of_question}[arm one]\n[arm two]\n{of_arm}\n");
        let (experiment, found) = experiment_in(&text, &overrides, &files);
        let found = render(&text, &found);
        let experiment = experiment.unwrap_or_else(|| panic!("{found}"));
        assert!(!format!("{found}{}", experiment.to_text()).contains(PASSWORD), "{of_arm}");
        assert!(!experiment.secrets().is_empty());
        for arm in &experiment.arms {
            let of_run = experiment.plan(arm, 7, &overrides, &files).unwrap();
            for plan in [&arm.plan, &of_run] {
                assert!(plan.is_secret("pw"), "{}: {of_arm}", arm.name);
                assert!(!plan.to_text().contains(PASSWORD), "{}", plan.to_text());
            }
        }
        let two = &experiment.arms[1];
        let mut around = [&two.restore, &two.before, &two.after].into_iter().flatten();
        let is_sent = around.any(|statement| statement.text.contains(PASSWORD));
        assert_eq!(is_sent, !of_arm.starts_with("set."));
    }
}

/// The statement of the second arm makes a parameter a secret, and the plan of the first arm would
/// show its value.
#[test]
fn secret_of_a_statement_around_the_runs_is_refused_elsewhere() {
    let workload = "url = postgres://ann@h/d\nduration = 1s\n[params]\npw = 1234567\n[a]\n\
                    query = select 1\nrate = ${pw}\n";
    let files = BTreeMap::from([("w.ini".to_owned(), workload.as_bytes().to_vec())]);
    let text = "[question]\nask = ?\nworkload = w.ini\nrounds = 6\n[arm one]\n[arm two]\n\
                before = alter role ann password ${pw}\n";
    let (experiment, found) = experiment_in(text, &Overrides::default(), &files);
    let found = render(text, &found);
    assert!(experiment.is_none(), "{found}");
    assert!(found.contains("reaches a place where it would be shown"), "{found}");
    assert!(!found.contains("1234567"), "{found}");
}

#[test]
fn port_of_a_program_is_not_a_secret() {
    let text = "[params]\np = 5433\noptions = -p ${p}\n[a]\ncommand = psql -p ${p} -c x\n\
                [b]\ncommand = pgbench -p${p}\nrate = ${p}\n";
    let (plan, found) = shown(text, &[]);
    assert!(plan.unwrap_or_else(|| panic!("{found}")).hidden.is_none());
}

#[test]
fn parameter_outside_the_password_of_a_url_is_not_a_secret() {
    let text = format!(
        "url = postgres://${{u}}:x@${{h}}:${{p}}/${{d}}?connect-timeout=${{t}}\n\
         [params]\nu = ann\nh = db1\np = 5433\nd = shop\nt = 3s\nn = 5\n{READ}\
         concurrency = ${{n}}\n"
    );
    let (plan, found) = shown(&text, &[]);
    assert!(plan.unwrap_or_else(|| panic!("{found}")).hidden.is_none());
}

#[test]
fn secret_that_would_be_shown_elsewhere_is_refused() {
    let begin = "url = postgres://ann:${pw}@h/d\n[params]\npw = 1234567\n";
    for rest in [
        "[a]\nquery = x\nrate = ${pw}\n",
        "[a]\nquery = x\nquery-results-file = r${pw}.csv\n",
        "[load t]\nrows = ${pw}\ncolumns = a: row()\n",
        "[load t]\nrows = 1\ncolumns = a: uniform(1, pw)\n",
        "[t]\nquery = select ${pw + 1}\n",
        "[target t]\nurl = sqlite:${pw}.db\n[a]\nquery = x\ntarget = t\n",
    ] {
        let (plan, found) = shown(&format!("{begin}{rest}"), &[]);
        assert!(plan.is_none(), "{rest}");
        assert!(found.contains("reaches a place where it would be shown"), "{rest}: {found}");
        assert!(!found.contains("1234567"), "{rest}: {found}");
    }
}

#[test]
fn invariant_8_no_complaint_shows_a_secret() {
    for text in [
        "url = postgres://ann:${pw}@h:x/d\n[params]\npw = s3cr3t-Pa55\n",
        "url = postgres://ann:${pw}@h/d\n[params]\npw = 's3cr3t-Pa55\n",
        "url = postgres://ann:${pw}@h/d\n[params]\npw = s3cr3t-Pa55${nothing}\n",
        "url = postgres://ann:${pw}@h/d\n[params]\npw = s3cr3t-Pa55\npw = s3cr3t-Pa55\n",
        "url = postgres://ann:${pw}@h/d\nduration = ${pw}\n[params]\npw = s3cr3t-Pa55\n",
        "url = postgres:/ann:${pw}@h/d\n[params]\npw = s3cr3t-Pa55\n",
        "url = postgres://ann:${pw}@h/d\n[params]\npw = a/s3cr3t-Pa55\n",
        "url = postgres://ann:${pw}@h/d\n[params]\npw = a@b/s3cr3t-Pa55\n",
        "url = postgres://ann:${pw}@h/d\n[params]\npw = s3cr3t-Pa55%zz\n",
    ] {
        let (plan, found) = shown(&format!("{text}{READ}"), &[]);
        assert!(plan.is_none(), "{text}");
        assert!(!found.contains("s3cr3t") && !found.contains("Pa55"), "{text}\n{found}");
    }
    let text = format!("url = postgres://ann:${{pw}}@h/d\n[params]\npw = x\nn = 1\n{READ}");
    for set in ["pw='s3cr3t-Pa55", "pw=${s3cr3t-Pa55", "pw=a/s3cr3t-Pa55"] {
        let (_, found) = shown(&format!("{text}rate = ${{n}}\n"), &[set, "n=fast"]);
        assert!(!found.contains("Pa55"), "{set}\n{found}");
    }
    let (plan, found) = shown(&text, &["pww=s3cr3t-Pa55"]);
    assert!(plan.is_none() && found.contains("did you mean `pw`?") && !found.contains("Pa55"));
    let is_error = |found: &base::Diagnostic| found.severity == Severity::Error;
    assert!(workload::plan(&text, &Overrides::default()).1.iter().all(|found| !is_error(found)));
}
