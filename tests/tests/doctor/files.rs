//! Checks of files and of this machine: configuration, keys, teams and tokens, room, open files,
//! certificates.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agon_tests::binary::{self, Ended, run};
use agon_tests::left_out::left_out;
use agon_tests::redis::free_port;
use agon_tests::s3::S3Server;
use agon_tests::small_disk::with_small_disk;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};

use super::{doctor_in, expect, said};

fn write(folder: &Path, name: &str, text: &str, mode: u32) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path.display().to_string()
}

fn of_configuration(text: &str, key_mode: u32, variables: &[(&str, &str)]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let key = write(folder.path(), "key", "sk-0123456789abcdef\n", key_mode);
    write(
        folder.path(),
        "agon.toml",
        &text.replace("KEYFILE", &key),
        0o600,
    );
    let ended = doctor_in(folder.path(), &[], variables);
    assert!(!ended.out.contains("0123456789abcdef"), "{}", ended.out);
    ended
}

const ONE_MODEL: &str = "[providers.house]\nbase_url = 'http://h/v1'\nkeys = [{ file = 'KEYFILE' }]\n\
                         [models.any]\nprovider = 'house'\n";

#[test]
fn configuration_that_can_be_used_passes_and_a_faulty_one_does_not() {
    let ended = of_configuration(ONE_MODEL, 0o600, &[]).expect_code(0);
    expect(&ended, "ok", "configuration", "agon.toml can be used");
    expect(&ended, "ok", "keys", "1 key can be read");
    expect(&ended, "ok", "key files", "closed to other users");
    let ended = of_configuration("[providers.house]\nkey = 1\n", 0o600, &[]).expect_code(1);
    expect(&ended, "fail", "configuration", "agon.toml:2");
}

#[test]
fn every_key_must_be_there_and_keys_of_providers_that_nobody_uses_need_not() {
    let text = ONE_MODEL.replace("}]", "}, { env = 'SECOND_KEY' }]");
    let ended = of_configuration(&text, 0o600, &[]).expect_code(1);
    expect(
        &ended,
        "fail",
        "key of house",
        "SECOND_KEY is not set; put it there",
    );
    let ended = of_configuration(&text, 0o600, &[("SECOND_KEY", "sk-2-abcdefgh")]).expect_code(0);
    expect(&ended, "ok", "keys", "2 keys can be read");
    let text = format!("{ONE_MODEL}extra_headers = {{ x-team = {{ env = 'NO_HEADER' }} }}\n");
    let ended = of_configuration(&text, 0o600, &[]).expect_code(1);
    expect(&ended, "fail", "model any", "NO_HEADER is not set");
}

#[test]
fn key_file_that_others_can_read_warns() {
    let ended = of_configuration(ONE_MODEL, 0o644, &[]).expect_code(0);
    expect(&ended, "warn", "key file", "; chmod o-rwx ");
    let ended = of_configuration(ONE_MODEL, 0o640, &[]).expect_code(0);
    expect(&ended, "ok", "key files", "closed to other users");
}

#[test]
fn models_without_a_price_fail_where_a_team_has_a_budget() {
    let budget = "[teams.red]\nbudget_dollars = '5'\n";
    let ended = of_configuration(&format!("{ONE_MODEL}{budget}"), 0o600, &[]).expect_code(1);
    expect(
        &ended,
        "fail",
        "prices",
        "none for any, so that teams with a budget are refused: red",
    );
    let price = "price = { input_per_million_dollars = '1', output_per_million_dollars = '2' }\n";
    let text = format!("{ONE_MODEL}{price}{budget}");
    let ended = of_configuration(&text, 0o600, &[]).expect_code(0);
    expect(&ended, "ok", "prices", "known for every configured model");
    let ended = of_configuration(ONE_MODEL, 0o600, &[]).expect_code(0);
    assert_eq!(said(&ended, "prices"), "", "{}", ended.out);
}

/// A data folder of this installation and a command that changes its tokens.
fn token(data: &Path, arguments: &[&str]) -> String {
    let data = data.display().to_string();
    let all = [&["token"], arguments, &["--data", &data]].concat();
    run(&all).expect_code(0).out.trim().to_owned()
}

#[test]
fn tokens_that_end_or_have_ended_and_a_missing_admin_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("agon-data");
    fs::create_dir(&data).unwrap();
    // What a run left here need not be the services'.
    let unnamed = doctor_in(folder.path(), &[], &[]);
    assert!(!unnamed.out.contains("admin token"), "{}", unnamed.out);
    assert!(
        unnamed
            .out
            .contains("tokens (--redis or --data of the services)")
    );
    let look = || doctor_in(folder.path(), &["--data", "agon-data"], &[]);
    let ended = look();
    expect(&ended, "ok", "admin token", "there are no tokens");
    // A doctor makes nothing.
    assert_eq!(fs::read_dir(&data).unwrap().count(), 0);
    token(&data, &["create", "--scope", "worker"]);
    let ended = look();
    expect(
        &ended,
        "warn",
        "admin token",
        "; `agon token create --scope admin`",
    );
    expect(
        &ended,
        "ok",
        "lifetimes of tokens",
        "none expires within 14 days",
    );
    let admin = ["create", "--scope", "admin", "--name", "mine", "--expires"];
    let secret = token(&data, &[&admin[..], &["10d"]].concat());
    let ended = look();
    expect(&ended, "ok", "admin token", "there is one");
    expect(&ended, "warn", "tokens that expire soon", "mine (");
    assert!(!ended.out.contains(&secret), "{}", ended.out);
    let over = token(&data, &[&admin[..], &["1ms"]].concat());
    let ended = look();
    expect(&ended, "warn", "expired tokens", "; make others with");
    token(&data, &["revoke", over.split('_').nth(1).unwrap()]);
    assert_eq!(said(&look(), "expired tokens"), "");
}

#[test]
fn identity_file_is_read_with_its_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let token = write(folder.path(), "token", "a-token-of-24-characters", 0o600);
    let text = format!("[tokens.boss]\nscopes = ['admin']\nfile = '{token}'\n");
    let file = write(folder.path(), "identity.toml", &text, 0o600);
    let ended = doctor_in(folder.path(), &["--identity", &file], &[]);
    expect(&ended, "ok", "identity file", "0 teams and 1 token");
    expect(&ended, "ok", "admin token", "there is one");
    fs::remove_file(&token).unwrap();
    let ended = doctor_in(folder.path(), &["--identity", &file], &[]).expect_code(1);
    expect(&ended, "fail", "identity file", "tokens.boss: ");
    assert!(!ended.out.contains("a-token-of-24"), "{}", ended.out);
}

#[test]
fn little_room_warns_and_next_to_none_fails() {
    let test = "files::little_room_warns_and_next_to_none_fails";
    with_small_disk(test, "200m", |disk| {
        let at = disk.path().display().to_string();
        let look = |flag: &str| doctor_in(disk.path(), &[flag, &at], &[]);
        expect(&look("--data"), "warn", "data folder", "MiB free in");
        let _filler = disk.fill(150 << 20);
        expect(&look("--data"), "fail", "data folder", "; free some space");
        expect(&look("--archive"), "fail", "archive", "; free some space");
    });
    let folder = tempfile::tempdir_in(binary::path().parent().unwrap()).unwrap();
    let here = folder.path().display().to_string();
    let ended = doctor_in(folder.path(), &["--data", &here], &[]);
    expect(&ended, "ok", "data folder", "MiB free in");
    let gone = folder.path().join("gone").display().to_string();
    let ended = doctor_in(folder.path(), &["--data", &gone], &[]).expect_code(1);
    expect(&ended, "fail", "data folder", "cannot be used");
}

#[test]
fn bucket_that_does_not_answer_fails() {
    let folder = tempfile::tempdir().unwrap();
    let look = |variables: &[(&str, &str)]| {
        doctor_in(
            folder.path(),
            &["--archive", "s3://bucket/of/may"],
            variables,
        )
    };
    let away = format!("http://127.0.0.1:{}", free_port());
    let ended = look(&[
        ("AWS_ENDPOINT_URL", &away),
        ("AWS_ACCESS_KEY_ID", "an-access-key"),
        ("AWS_SECRET_ACCESS_KEY", "hidden-secret-of-a-bucket"),
        ("AWS_REGION", "here"),
    ]);
    expect(&ended, "fail", "archive", "; correct --archive");
    assert!(!ended.out.contains("hidden-secret"), "{}", ended.out);
    let storage = match S3Server::start() {
        Ok(storage) => storage,
        Err(why) => return left_out("a bucket that answers", &why),
    };
    let variables = storage.variables();
    let variables: Vec<(&str, &str)> = variables
        .iter()
        .map(|(name, value)| (name.as_ref(), value.as_ref()))
        .collect();
    expect(&look(&variables), "ok", "archive", "can be read");
}

#[test]
fn few_open_files_warn() {
    let agon = binary::path().display().to_string();
    for (limit, result) in [("1024", "warn"), ("4096", "ok")] {
        let line = format!("ulimit -n {limit}; exec {agon} doctor");
        let folder = tempfile::tempdir().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(folder.path());
        let ended = Ended::from(shell.output().unwrap());
        expect(&ended, result, "open files", limit);
    }
}

#[test]
fn certificate_must_fit_its_key_and_last() {
    let folder = tempfile::tempdir().unwrap();
    let (key, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let certificate = |name: &str, days: u64| {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let begin = date_time_ymd(1970, 1, 1);
        params.not_before = begin;
        params.not_after = begin + Duration::from_secs(days * 24 * 3_600);
        let pem = params.self_signed(&key).unwrap().pem();
        write(folder.path(), name, &pem, 0o644)
    };
    let today = now.as_secs() / (24 * 3_600);
    let good = certificate("good.crt", today + 100);
    let ending = certificate("ending.crt", today + 7);
    let over = certificate("over.crt", today - 7);
    let mine = write(folder.path(), "mine.key", &key.serialize_pem(), 0o600);
    let others = write(folder.path(), "other.key", &other.serialize_pem(), 0o600);
    let gone = "/nowhere/c.crt".to_owned();
    for (cert, key, result, words) in [
        (&good, &mine, "ok", "fits its key"),
        (&good, &others, "fail", "does not belong to"),
        (&ending, &mine, "warn", "expires within 14 days; renew it"),
        (&over, &mine, "fail", "; renew it"),
        (&gone, &mine, "fail", "cannot be read"),
    ] {
        let variables = [("AGON_TLS_CERT", cert.as_str()), ("AGON_TLS_KEY", key)];
        let ended = doctor_in(folder.path(), &[], &variables);
        expect(&ended, result, "certificate", words);
    }
}
