//! The client libraries of OpenAI, Anthropic and Google, in the versions that people have, against
//! the gateway's HTTP door and the simulated model server. Installs them through pip.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use agon_tests::binary::{self, Role};
use agon_tests::left_out::left_out;
use agon_tests::model_server::ModelServer;
use agon_tests::tree;

const TOKEN: &str = "red-5ecret-token-0001";

const TEST: &str = "client_libraries_of_three_providers_are_understood";

#[test]
fn client_libraries_of_three_providers_are_understood() {
    let scripts = tree::root().join("tests/clients");
    let python = match installed(&scripts.join("requirements.txt")) {
        Ok(python) => python,
        Err(why) => return left_out(TEST, &why),
    };
    let server = ModelServer::start(&[]);
    let base_url = server.base_url();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("token"), TOKEN).unwrap();
    let config = format!(
        "[providers.lab]\nbase_url = '{base_url}'\n[models.small]\nprovider = 'lab'\nmodel = \
         'agon-sim'\n[models.thinker]\nprovider = 'lab'\nmodel = 'thinks-deeply'\n"
    );
    let identity = format!(
        "[teams.red]\n[tokens.red]\nteam = 'red'\nscopes = ['submit']\nfile = '{}'\n",
        path("token")
    );
    fs::write(path("identity.toml"), identity).unwrap();
    fs::write(path("agon.toml"), config).unwrap();
    let (mut gateway, _) = Role::listening(&[
        "gateway",
        "--listen",
        "127.0.0.1:0",
        "--http-listen",
        "127.0.0.1:0",
        "--config",
        &path("agon.toml"),
        "--identity",
        &path("identity.toml"),
        "--data",
        &path("data"),
    ]);
    let line = gateway.line_with("http listening on ");
    let door = format!(
        "http://{}",
        line.trim().rsplit(' ').next().unwrap_or_default()
    );
    let server = base_url.trim_end_matches("/v1");
    let mut asked = Command::new(python);
    asked.arg(scripts.join("clients.py"));
    asked.args(["--door", &door, "--token", TOKEN, "--server", server]);
    let asked = asked.output().expect("Python runs");
    assert!(asked.status.success(), "{}", said(&asked));
    let out = String::from_utf8_lossy(&asked.stdout);
    let checks = out.lines().filter(|line| !line.starts_with("==")).count();
    println!("{checks} checks of client libraries passed");
    assert_eq!(checks, 20, "{out}");
}

/// The Python of a folder with the libraries, which is made once.
fn installed(requirements: &Path) -> Result<PathBuf, String> {
    let wanted = fs::read_to_string(requirements).expect("the list of libraries");
    let profile = binary::path();
    let folder = profile.with_file_name("client-libraries");
    let (python, ready) = (folder.join("bin/python"), folder.join("ready"));
    if fs::read_to_string(&ready).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    let made = Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(&folder)
        .output();
    let made = made.map_err(|error| format!("it needs Python 3: {error}"))?;
    if !made.status.success() {
        return Err(format!("it needs Python 3 with venv: {}", last_line(&made)));
    }
    let mut pip = Command::new(&python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    let pip = pip.arg("--requirement").arg(requirements).output();
    let pip = pip.map_err(|error| format!("pip does not run: {error}"))?;
    if !pip.status.success() {
        return Err(format!(
            "pip cannot install the libraries: {}",
            last_line(&pip)
        ));
    }
    fs::write(&ready, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn last_line(output: &Output) -> String {
    said(output).lines().last().unwrap_or_default().to_owned()
}
