import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** The part of `gh api` that Baton uses: the same arguments, output and exit codes. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    include: { type: 'boolean' },
    hostname: { type: 'string' },
    method: { type: 'string' },
    header: { type: 'string', multiple: true },
    input: { type: 'string' },
  },
});
const [command, path = ''] = positionals;
if (command !== 'api' || values.include !== true || path.startsWith('/')) {
  process.stderr.write(`unknown command "${process.argv.slice(2).join(' ')}" for "gh"\n`);
  process.exit(1);
}
const { GH_TOKEN: token = '', GH_CONFIG_DIR: folder = '' } = process.env;
if (token === '') {
  process.stderr.write(
    'To get started with GitHub CLI, please run:  gh auth login\nAlternatively, populate the GH_TOKEN environment variable with a GitHub API authentication token.\n',
  );
  process.exit(4);
}
const socketPath = /^http_unix_socket: (.+)$/m.exec(readFileSync(join(folder, 'config.yml'), 'utf8'))?.[1] ?? '';
const given = (values.header ?? []).map((line) => line.split(': ', 2));
const headers = { host: `api.${values.hostname ?? ''}`, authorization: `token ${token}`, ...Object.fromEntries(given) };
const sent = request({ socketPath, path: `/${path}`, method: values.method ?? 'GET', headers }, (response) => {
  void response.toArray().then((pieces) => {
    const body = Buffer.concat(pieces).toString('utf8');
    const { statusCode = 0, statusMessage = '', rawHeaders } = response;
    process.stdout.write(`HTTP/1.1 ${statusCode} ${statusMessage}\n`);
    for (let i = 0; i < rawHeaders.length; i += 2) process.stdout.write(`${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`);
    process.stdout.write(`\r\n${body}`);
    if (statusCode >= 300) {
      process.stderr.write(`gh: ${String(Object(JSON.parse(body)).message)} (HTTP ${statusCode})\n`);
      process.exitCode = 1;
    }
  });
});
sent.on('error', () => {
  process.stderr.write(
    `error connecting to api.${values.hostname ?? ''}\ncheck your internet connection or https://githubstatus.com\n`,
  );
  process.exitCode = 1;
});
sent.end(values.input === '-' ? readFileSync(0) : undefined);
