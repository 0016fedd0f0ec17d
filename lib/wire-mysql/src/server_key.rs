//! Encryption of a password with the server's RSA key.
//!
//! Protocol manual: "Caching SHA-2 Pluggable Authentication": the password and a zero byte are
//! XORed with the nonce, then encrypted with OAEP and SHA-1. The key may come from the server, so
//! it is validated here, byte by byte, before it is used: RFC 7468 (PEM), RFC 8017 A.1.1
//! (`RSAPublicKey`), RFC 5280 4.1.2.7 (`SubjectPublicKeyInfo`).

use std::convert::Infallible;

use mysql_common::crypto::rsa::{Pkcs1OaepPadding, PublicKey, Rng};
use num_bigint::BigUint;

use crate::error::{ErrorKind, WireError, fault};
use crate::handshake::Nonce;

/// Random bytes for the padding.
pub type Seed = [u8; 20];

/// Allowed length of the modulus, in bytes. The maximum limits the time that a server can make the
/// client spend.
const MODULUS: std::ops::RangeInclusive<usize> = 128..=1024;

/// The longest exponent, in bytes.
const MAX_EXPONENT: usize = 8;

/// Number of bytes that OAEP with SHA-1 adds to a message.
const PADDING: usize = 42;

/// Encrypts a password with a key.
pub(crate) fn encrypt(
    password: &[u8],
    nonce: &Nonce,
    pem: &[u8],
    seed: Seed,
) -> Result<Vec<u8>, WireError> {
    let wrong = fault(ErrorKind::Value, 0, "server's public key");
    let key = Key::of_pem(pem).ok_or(wrong)?;
    let message: Vec<u8> = password
        .iter()
        .chain(std::iter::once(&0))
        .zip(nonce.iter().cycle())
        .map(|(byte, mask)| byte ^ mask)
        .collect();
    if message.len().saturating_add(PADDING) > key.modulus.len() {
        return Err(fault(ErrorKind::TooLong, 0, "password for the server's public key"));
    }
    let modulus = BigUint::from_bytes_be(&key.modulus);
    let exponent = BigUint::from_bytes_be(&key.exponent);
    PublicKey::new(modulus, exponent)
        .encrypt_block(message, Pkcs1OaepPadding::new(CallerBytes(seed)))
        .map_err(|_| wrong)
}

/// A random number generator that returns the caller's bytes.
struct CallerBytes(Seed);

impl Rng for CallerBytes {
    type Error = Infallible;

    fn fill(&mut self, places: &mut [u8]) -> Result<(), Infallible> {
        places.iter_mut().zip(self.0).for_each(|(place, byte)| *place = byte);
        Ok(())
    }
}

/// A validated public key.
struct Key {
    modulus: Vec<u8>,
    exponent: Vec<u8>,
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;

impl Key {
    fn of_pem(pem: &[u8]) -> Option<Key> {
        let text = std::str::from_utf8(pem).ok()?;
        if let Some(body) = pem_body(text, "PUBLIC KEY") {
            let der = base64(body)?;
            let (info, _) = element(&der, SEQUENCE)?;
            let (_algorithm, rest) = element(info, SEQUENCE)?;
            let (bits, _) = element(rest, BIT_STRING)?;
            let (0, key) = bits.split_first()? else { return None };
            return Key::of_der(key);
        }
        Key::of_der(&base64(pem_body(text, "RSA PUBLIC KEY")?)?)
    }

    fn of_der(der: &[u8]) -> Option<Key> {
        let (fields, _) = element(der, SEQUENCE)?;
        let (modulus, rest) = element(fields, INTEGER)?;
        let (exponent, _) = element(rest, INTEGER)?;
        let (modulus, exponent) = (without_zero(modulus), without_zero(exponent));
        // The number of bits is a multiple of 8, as in every key in use.
        let is_whole = modulus.first().is_some_and(|byte| *byte >= 0x80);
        let is_odd = modulus.last().is_some_and(|byte| byte & 1 == 1);
        let is_short = (1..=MAX_EXPONENT).contains(&exponent.len());
        let is_right = is_whole && is_odd && is_short && MODULUS.contains(&modulus.len());
        is_right.then(|| Key { modulus: modulus.to_vec(), exponent: exponent.to_vec() })
    }
}

fn pem_body<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    Some(body)
}

/// Splits the first element of a DER structure from the bytes after it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7F => (usize::from(*first), rest),
        0x81 => rest.split_first().map(|(byte, rest)| (usize::from(*byte), rest))?,
        0x82 => {
            let (bytes, rest) = rest.split_first_chunk::<2>()?;
            (usize::from(u16::from_be_bytes(*bytes)), rest)
        }
        // No key within the limits has a longer length field.
        _ => return None,
    };
    if *found != tag { None } else { rest.split_at_checked(length) }
}

fn without_zero(number: &[u8]) -> &[u8] {
    let start = number.iter().position(|byte| *byte != 0).unwrap_or(number.len());
    number.get(start..).unwrap_or_default()
}

/// Decodes base64 by RFC 4648 section 4, ignoring white space.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut bits, mut count) = (0_u32, 0_u8);
    for byte in text.trim_end().trim_end_matches('=').bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte.wrapping_sub(b'A'),
            b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
            b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
            b'+' => 62,
            b'/' => 63,
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        count = count.wrapping_add(6);
        if count >= 8 {
            count = count.wrapping_sub(8);
            out.push((bits >> count & 0xFF) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_agrees_with_the_rfc() {
        for (text, expected) in
            [("", ""), ("Zg==", "f"), ("Zm9v\nYg==\n", "foob"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(base64(text).as_deref(), Some(expected.as_bytes()), "{text:?}");
        }
        assert_eq!(base64("Zm9*"), None);
    }

    #[test]
    fn invalid_key_is_refused() {
        let short = "-----BEGIN RSA PUBLIC KEY-----\nMAYCAQACAQM=\n-----END RSA PUBLIC KEY-----";
        let empty = "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----";
        for pem in ["", "-----BEGIN PUBLIC KEY-----", empty, short] {
            let error = encrypt(b"secret", &[1; 20], pem.as_bytes(), [0; 20]).expect_err(pem);
            assert_eq!((error.kind, error.context), (ErrorKind::Value, "server's public key"));
        }
    }
}
