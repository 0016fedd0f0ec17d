//! The server's side of SCRAM-SHA-256, as defined by RFC 5802 and RFC 7677, for tests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

const SALT: &[u8] = b"pepper and salt!";
const ITERATIONS: u32 = 4_096;

/// A server with a password, and its expectations of the client.
#[derive(Clone, Copy)]
pub(crate) struct Server<'s> {
    pub(crate) password: &'s [u8],
    /// The mechanism that the client must choose.
    pub(crate) mechanism: &'s str,
    /// Channel-binding header that the client must send.
    pub(crate) header: &'s str,
    /// Hash of this server's certificate.
    pub(crate) end_point: &'s [u8],
    /// Kind of its proof that it knows the password.
    pub(crate) proof: Proof,
}

/// The kind of a server's proof that it knows the password.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Proof {
    /// The correct proof.
    Right,
    /// A proof with a wrong key.
    Forged,
    /// No proof.
    Omitted,
}

impl Server<'_> {
    /// Returns the reply to the client's first message, and that message without its header.
    pub(crate) fn challenge(&self, mechanism: &[u8], first: &[u8]) -> (String, String) {
        assert_eq!(mechanism, self.mechanism.as_bytes());
        let first = std::str::from_utf8(first).expect("a message of SCRAM is text");
        let bare = first.strip_prefix(self.header).expect("the header that was expected");
        let nonce = bare.strip_prefix("n=,r=").expect("an empty name and a nonce");
        let challenge = format!("r={nonce}server,s={},i={ITERATIONS}", STANDARD.encode(SALT));
        (challenge, bare.to_owned())
    }

    /// Returns the proof that the server knows the password, if the client's proof is valid.
    pub(crate) fn proof(&self, bare: &str, challenge: &str, last: &[u8]) -> Option<Vec<u8>> {
        let last = std::str::from_utf8(last).expect("a message of SCRAM is text");
        let (without_proof, proof) = last.split_once(",p=").expect("a proof");
        let bound = STANDARD.encode([self.header.as_bytes(), self.end_point].concat());
        let message = format!("{bare},{challenge},{without_proof}");
        let salted = self.salted();
        let client_key = hmac(&salted, b"Client Key");
        let signature = hmac(&Sha256::digest(client_key), message.as_bytes());
        let expected: Vec<u8> = client_key.iter().zip(signature).map(|(a, b)| a ^ b).collect();
        let is_right = STANDARD.decode(proof).expect("base64") == expected
            && without_proof.starts_with(&format!("c={bound},"));
        let key = match self.proof {
            Proof::Right | Proof::Omitted => hmac(&salted, b"Server Key"),
            Proof::Forged => [0; 32],
        };
        let proof = STANDARD.encode(hmac(&key, message.as_bytes()));
        is_right.then(|| format!("v={proof}").into_bytes())
    }

    /// Computes PBKDF2 with one block.
    fn salted(&self) -> [u8; 32] {
        let mut last = hmac(self.password, &[SALT, &[0, 0, 0, 1]].concat());
        let mut salted = last;
        for _ in 1..ITERATIONS {
            last = hmac(self.password, &last);
            salted.iter_mut().zip(last).for_each(|(sum, byte)| *sum ^= byte);
        }
        salted
    }
}

fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut hmac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    hmac.update(message);
    hmac.finalize().into_bytes().into()
}
