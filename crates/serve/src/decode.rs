//! Text of URLs (RFC 3986, section 2).

/// The form of a text in a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A segment of a path.
    Segment,
    /// A name or value of a field in a query or a form, in which `+` is a blank.
    Field,
}

/// Decodes a text; `None` if a percent code is invalid, or the result is not UTF-8 or contains NUL.
pub(crate) fn decode(text: &str, form: Form) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        rest = others;
        bytes.push(match (first, form) {
            (b'%', _) => {
                let (code, others) = rest.split_first_chunk::<2>()?;
                rest = others;
                digit(code[0])? << 4 | digit(code[1])?
            }
            (b'+', Form::Field) => b' ',
            (other, _) => *other,
        });
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Decodes the fields of a query or a form; `None` if one of them cannot be decoded.
pub(crate) fn decode_fields(query: &str) -> Option<Vec<(String, String)>> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let field = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decode(name, Form::Field)?, decode(value, Form::Field)?))
    };
    pairs.map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_codes_are_decoded_and_wrong_ones_refused() {
        for (text, expected) in [
            ("a%20b+c", Some("a b+c")),
            ("%C3%A9", Some("é")),
            ("%2e%2E%2f", Some("../")),
            ("", Some("")),
            ("%", None),
            ("%4", None),
            ("%+1", None),
            ("%zz", None),
            ("%ff", None),
            ("%00", None),
        ] {
            assert_eq!(decode(text, Form::Segment).as_deref(), expected, "{text}");
        }
        assert_eq!(decode("a+b%2B", Form::Field).as_deref(), Some("a b+"));
    }

    #[test]
    fn fields_are_pairs_in_their_order() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = vec![pair("q", "a b"), pair("x", ""), pair("y", "=1")];
        assert_eq!(decode_fields("q=a+b&x&&y==1"), Some(expected));
        assert_eq!(decode_fields(""), Some(Vec::new()));
        assert_eq!(decode_fields("q=%"), None);
    }
}
