//! Generation of TLS certificates for private servers.

use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::Problem;
use crate::folder::{change_owner, write_private};
use crate::programs::Account;

/// The files of a server with TLS, in PEM. The certificates never expire, and no other system
/// trusts them.
#[derive(Clone, Debug)]
pub struct Certificates {
    /// Certificate of the authority that has signed the certificates of server and client.
    pub authority: PathBuf,
    /// Certificate of the server, for `localhost`, `127.0.0.1` and `::1`.
    pub server: PathBuf,
    /// Key of the server's certificate.
    pub server_key: PathBuf,
    /// Certificate of a client, for the user `assay`.
    pub client: PathBuf,
    /// Key of the client's certificate.
    pub client_key: PathBuf,
    /// Certificate of an unrelated authority: a client that trusts it alone must not trust the
    /// server.
    pub unrelated_authority: PathBuf,
}

impl Certificates {
    /// Creates the files in a new folder that belongs to the account. `user` is the name of the
    /// client.
    pub(crate) fn make(
        folder: &Path,
        user: &str,
        account: &Account,
    ) -> Result<Certificates, Problem> {
        std::fs::create_dir(folder)
            .map_err(Problem::system(format!("make {}", folder.display())))?;
        change_owner(folder, account)?;
        let file = |name: &str| folder.join(name);
        let paths = Certificates {
            authority: file("authority.pem"),
            server: file("server.pem"),
            server_key: file("server-key.pem"),
            client: file("client.pem"),
            client_key: file("client-key.pem"),
            unrelated_authority: file("stranger.pem"),
        };
        let texts = Texts::make(user)
            .map_err(|error| Problem::refused(format!("certificates cannot be made: {error}")))?;
        for (path, text) in [
            (&paths.authority, &texts.authority),
            (&paths.server, &texts.server.certificate),
            (&paths.server_key, &texts.server.key),
            (&paths.client, &texts.client.certificate),
            (&paths.client_key, &texts.client.key),
            (&paths.unrelated_authority, &texts.unrelated_authority),
        ] {
            write_private(path, text, account)?;
        }
        Ok(paths)
    }
}

/// The content of the files.
struct Texts {
    authority: String,
    server: CertificateAndKey,
    client: CertificateAndKey,
    unrelated_authority: String,
}

struct CertificateAndKey {
    certificate: String,
    key: String,
}

impl Texts {
    fn make(user: &str) -> Result<Texts, rcgen::Error> {
        let (authority, issuer) = new_authority("Assay testbed")?;
        let (unrelated_authority, _) = new_authority("A stranger to the testbed")?;
        let places = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let mut server = CertificateParams::new(places)?;
        server.distinguished_name.push(DnType::CommonName, "localhost");
        server.extended_key_usages.push(ExtendedKeyUsagePurpose::ServerAuth);
        let mut client = CertificateParams::new(Vec::new())?;
        client.distinguished_name.push(DnType::CommonName, user);
        client.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth);
        let (server, client) = (sign(server, &issuer)?, sign(client, &issuer)?);
        Ok(Texts { authority, server, client, unrelated_authority })
    }
}

fn new_authority(name: &str) -> Result<(String, Issuer<'static, KeyPair>), rcgen::Error> {
    let mut parameters = CertificateParams::new(Vec::new())?;
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate()?;
    let certificate = parameters.self_signed(&key)?.pem();
    Ok((certificate, Issuer::new(parameters, key)))
}

fn sign(
    mut parameters: CertificateParams,
    issuer: &Issuer<'_, KeyPair>,
) -> Result<CertificateAndKey, rcgen::Error> {
    parameters.key_usages.push(KeyUsagePurpose::DigitalSignature);
    parameters.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = parameters.signed_by(&key, issuer)?.pem();
    Ok(CertificateAndKey { certificate, key: key.serialize_pem() })
}
