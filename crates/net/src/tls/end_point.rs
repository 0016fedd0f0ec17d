//! The certificate hash used for channel binding.
//!
//! RFC 5929, section 4.1: the certificate is hashed with the hash function of its signature, or
//! with SHA-256 if that function is MD5 or SHA-1. There is no binding if the signature algorithm
//! has no separate hash function (Ed25519) or takes it as a parameter (RSASSA-PSS), because servers
//! do not agree on the hash function to use.

use aws_lc_rs::digest::{Algorithm, SHA256, SHA384, SHA512, digest};

/// Returns the hash of a certificate in DER; empty if the signature's hash function is unknown.
pub(super) fn hash(certificate: &[u8]) -> Vec<u8> {
    match signature_algorithm(certificate).and_then(hash_of) {
        Some(algorithm) => digest(algorithm, certificate).as_ref().to_vec(),
        None => Vec::new(),
    }
}

/// Returns the hash function for the object identifier of a signature algorithm: RSA (RFC 8017,
/// appendix C) or ECDSA (RFC 5758, section 3.2).
fn hash_of(oid: &[u8]) -> Option<&'static Algorithm> {
    const RSA: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA: [u8; 7] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03];
    match (oid.strip_prefix(&RSA), oid.strip_prefix(&ECDSA)) {
        // MD5, SHA-1 and SHA-256 with RSA, and SHA-256 with ECDSA.
        (Some([4 | 5 | 11]), _) | (_, Some([2])) => Some(&SHA256),
        (Some([12]), _) | (_, Some([3])) => Some(&SHA384),
        (Some([13]), _) | (_, Some([4])) => Some(&SHA512),
        _ => None,
    }
}

/// Returns the identifier in `signatureAlgorithm`, the second member of a certificate (RFC 5280,
/// section 4.1).
fn signature_algorithm(certificate: &[u8]) -> Option<&[u8]> {
    const SEQUENCE: u8 = 0x30;
    const OBJECT_IDENTIFIER: u8 = 0x06;
    let (whole, _) = element(SEQUENCE, certificate)?;
    let (_, after) = element(SEQUENCE, whole)?;
    let (algorithm, _) = element(SEQUENCE, after)?;
    element(OBJECT_IDENTIFIER, algorithm).map(|(oid, _)| oid)
}

/// Returns the content of a DER element with this tag, and the bytes after it (X.690, section 8.1).
fn element(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (found, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(*length), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    (*found == tag).then_some((content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds those parts of a certificate that this module reads: a `tbsCertificate` of `padding`
    /// zeros, followed by the algorithm.
    fn certificate(padding: usize, oid: &[u8]) -> Vec<u8> {
        let wrap = |tag: u8, content: &[u8]| {
            let mut out = vec![tag, 0x82];
            out.extend((content.len() as u16).to_be_bytes());
            out.extend(content);
            out
        };
        let algorithm = wrap(0x30, &[&[0x06, oid.len() as u8], oid].concat());
        wrap(0x30, &[wrap(0x30, &vec![0; padding]), algorithm].concat())
    }

    #[test]
    fn channel_binding_hash_follows_the_signature() {
        let rsa = |last| [&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01][..], &[last]].concat();
        let ecdsa = |last| [&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03][..], &[last]].concat();
        for (oid, algorithm) in [
            (rsa(11), &SHA256),
            (rsa(12), &SHA384),
            (rsa(13), &SHA512),
            // SHA-1 and MD5 are replaced by SHA-256.
            (rsa(5), &SHA256),
            (rsa(4), &SHA256),
            (ecdsa(2), &SHA256),
            (ecdsa(3), &SHA384),
            (ecdsa(4), &SHA512),
        ] {
            let certificate = certificate(300, &oid);
            assert_eq!(hash(&certificate), digest(algorithm, &certificate).as_ref(), "{oid:?}");
        }
    }

    #[test]
    fn unknown_signature_hash_gives_no_channel_binding() {
        let (ed25519, pss) = ([0x2b, 0x65, 0x70], [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 10]);
        for oid in [&ed25519[..], &pss] {
            assert!(hash(&certificate(300, oid)).is_empty(), "{oid:?}");
        }
    }

    #[test]
    fn invalid_certificate_has_no_hash() {
        let whole = certificate(3, &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11]);
        for length in 0..whole.len() {
            assert!(hash(&whole[..length]).is_empty(), "{length} bytes");
        }
        assert!(hash(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0]).is_empty());
    }
}
