//! The pages of a site by their addresses.

use crate::decode::{Form, decode, decode_fields};
use crate::response::{Answer, Response, Status};

/// The site behind a server.
pub trait Pages: Send + Sync {
    /// Returns the page or the events at a route, or a refusal with the reason. Several threads may
    /// call this function at once.
    fn answer(&self, route: &Route) -> Answer;

    /// Handles a form that was sent to a route, and returns the answer. This function is called
    /// only for routes that [take a form](Route::Notes), and only on servers that take forms.
    /// Several threads may call it at once. The default refuses every form.
    fn accept_form(&self, _: &Route, _: &Fields) -> Answer {
        Response::method_not_allowed("these pages are only read", false).into()
    }
}

/// The address of a page, after the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// The first page: `/?q=WORDS&page=N`.
    Home {
        /// Words to search for; empty for all records.
        search: String,
        /// Number of the page of the list, from 1.
        page: usize,
    },
    /// The answer of a record: `/report/NAME?run=N`.
    Report {
        /// Path of the record below the folder.
        record: String,
        /// Number of a run in the record of an experiment; `None` for the whole record.
        run: Option<u32>,
    },
    /// The comparison of two records: `/overlay?a=NAME&b=NAME`.
    Overlay {
        /// Paths of the records below the folder; `PATH#ARM` is an arm of an experiment.
        records: [String; 2],
    },
    /// The notes of a record: `/notes/NAME`. A form with a note may be sent to it.
    Notes {
        /// Path of the record below the folder.
        record: String,
    },
    /// The events of a run in progress: `/events`.
    Events,
    /// The numbers of a run in progress, for Prometheus: `/metrics`.
    Metrics,
}

impl Route {
    /// Returns the refusal of an address at which there is no page.
    pub fn not_found() -> Response {
        Response::refusal(Status::NotFound, "there is no page at this address")
    }

    /// Returns true if a form may be sent to the route.
    pub(crate) fn takes_a_form(&self) -> bool {
        match self {
            Route::Notes { .. } => true,
            Route::Home { .. }
            | Route::Report { .. }
            | Route::Overlay { .. }
            | Route::Events
            | Route::Metrics => false,
        }
    }

    /// Finds the route for a path and a query. The path is given without its leading `/` and
    /// without the token.
    pub(crate) fn parse(path: &str, query: &str) -> Result<Route, Response> {
        let undecoded =
            || Response::refusal(Status::BadRequest, "a %-code of the address is wrong");
        let segments = path.split('/').map(|segment| decode(segment, Form::Segment));
        let segments = segments.collect::<Option<Vec<String>>>().ok_or_else(undecoded)?;
        let fields = Fields::parse(query).ok_or_else(undecoded)?;
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        match segments[..] {
            [""] => Ok(Route::Home {
                search: fields.value("q").unwrap_or_default().to_owned(),
                page: fields.number("page")?.unwrap_or(1),
            }),
            ["report", ref name @ ..] if !name.is_empty() => {
                Ok(Route::Report { record: name.join("/"), run: fields.number("run")? })
            }
            ["notes", ref name @ ..] if !name.is_empty() => {
                Ok(Route::Notes { record: name.join("/") })
            }
            ["events"] => Ok(Route::Events),
            ["metrics"] => Ok(Route::Metrics),
            ["overlay"] => match (fields.value("a"), fields.value("b")) {
                (Some(a), Some(b)) => Ok(Route::Overlay { records: [a, b].map(str::to_owned) }),
                (_, _) => {
                    let reason = "mark two records, one as a and one as b: /overlay?a=NAME&b=NAME";
                    Err(Response::refusal(Status::BadRequest, reason))
                }
            },
            _ => Err(Route::not_found()),
        }
    }
}

/// Fields of a query or a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Decodes fields; `None` if one cannot be decoded.
    pub(crate) fn parse(text: &str) -> Option<Fields> {
        decode_fields(text).map(Fields)
    }

    /// Returns the first value of a field; `None` if there is none, or it is empty.
    pub fn value(&self, name: &str) -> Option<&str> {
        let field = self.0.iter().find(|(known, _)| known == name);
        field.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    fn number<N: std::str::FromStr>(&self, name: &str) -> Result<Option<N>, Response> {
        let parsed = self.value(name).map(str::parse).transpose();
        parsed.map_err(|_| {
            Response::refusal(Status::BadRequest, &format!("`{name}` is not a number"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(path: &str, query: &str) -> Status {
        Route::parse(path, query).unwrap_err().status
    }

    #[test]
    fn addresses_are_routes() {
        for (path, query, expected) in [
            ("", "", Route::Home { search: String::new(), page: 1 }),
            ("", "q=a+b&page=2", Route::Home { search: "a b".to_owned(), page: 2 }),
            ("", "q=", Route::Home { search: String::new(), page: 1 }),
            ("events", "", Route::Events),
            ("metrics", "x=y", Route::Metrics),
            ("notes/a%20b/r.assay", "added", Route::Notes { record: "a b/r.assay".to_owned() }),
            ("report/r.assay", "", Route::Report { record: "r.assay".to_owned(), run: None }),
            (
                "report/a%20b/%C3%A9.assay",
                "run=3",
                Route::Report { record: "a b/é.assay".to_owned(), run: Some(3) },
            ),
            (
                "overlay",
                "a=x.assay&b=y.assay%23tls",
                Route::Overlay { records: ["x.assay", "y.assay#tls"].map(str::to_owned) },
            ),
        ] {
            assert_eq!(Route::parse(path, query), Ok(expected), "{path}?{query}");
        }
    }

    #[test]
    fn other_addresses_are_refused() {
        for path in ["nothing", "report", "notes", "overlay/", "overlay/x", "/", "favicon.ico"] {
            assert_eq!(status(path, ""), Status::NotFound, "{path}");
        }
        for (path, query) in [
            ("report/%zz", ""),
            ("", "q=%"),
            ("", "page=x"),
            ("", "page=-1"),
            ("report/r", "run=99999999999"),
            ("overlay", ""),
            ("overlay", "a=x"),
            ("overlay", "a=x&b="),
        ] {
            assert_eq!(status(path, query), Status::BadRequest, "{path}?{query}");
        }
    }
}
