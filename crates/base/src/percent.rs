//! Percent-encoding of URLs (RFC 3986, section 2.1).

/// Percent-encodes a part of a URL: every byte except ASCII letters, digits and `-._~/,`.
pub fn percent_encoded(text: impl AsRef<[u8]>) -> String {
    let bytes = text.as_ref();
    let mut out = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~/,".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_end_a_part_of_a_url_are_encoded() {
        assert_eq!(percent_encoded("a-b_c.d~/1,"), "a-b_c.d~/1,");
        assert_eq!(percent_encoded("é@?# %"), "%C3%A9%40%3F%23%20%25");
    }
}
