import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { CODEX_PROFILE } from '../agents/capabilities/built-in.ts';
import { trustedHash } from '../agents/codex.ts';
import { fieldOf } from '../protocol/shape/read-unknown.ts';
import type { HookedClient, ClientFile, HookMachine, Scope, InstallRequest } from './client.ts';
import { hookCommand, isOwnMcpServer, mcpServer, type HookMoment } from './command-line.ts';
import { readFileText } from './files/file-text.ts';
import { jsonFile } from './edit/json-file.ts';
import { scanJson, valueOf } from './edit/scan-json.ts';
import { appendToml, parseToml, removeFromToml, renderTomlString, type TomlTable } from './edit/edit-toml.ts';

/** Codex runs a hook only if the user's `config.toml` trusts it, by position and hash; Baton adds that trust. */
export const codexHooks: HookedClient = {
  name: 'codex',
  title: CODEX_PROFILE.title,
  tested: CODEX_PROFILE.tested,
  files: (wanted) => {
    const { scope, machine } = wanted;
    const home = homeOf(machine);
    const mark = markFor(scope);
    const folder = scope.kind === 'user' ? home : join(scope.root, '.codex');
    const config = join(folder, 'config.toml');
    // Codex accepts hooks from only one of a folder's two files.
    const hooksJson = join(folder, 'hooks.json');
    const isJson = existsSync(hooksJson);
    const vouch = (): TomlTable[] =>
      trust(wanted, isJson ? hooksJson : config, isJson ? readJson(hooksJson) : readWithoutOurs(config, mark));
    const tables = (before: Config): TomlTable[] => [
      ...(isJson ? [] : hookTables(wanted)),
      ...serverTables(wanted, before),
    ];
    const hooks = Object.fromEntries(moments(wanted).map((moment) => [EVENTS[moment].event, handler(wanted, moment)]));
    return [
      ...(isJson ? [jsonFile({ path: hooksJson, hooks })] : []),
      ...(scope.kind === 'user'
        ? [file(config, mark, (before) => [...tables(before), ...vouch()])]
        : [file(config, mark, tables), file(join(home, 'config.toml'), mark, vouch)]),
    ];
  },
};

/** Codex resolves symbolic links only for a folder that CODEX_HOME names. */
function homeOf({ env, home }: HookMachine): string {
  const { CODEX_HOME: named } = env;
  if (!named) return join(home, '.codex');
  return existsSync(named) ? realpathSync(named) : named;
}

function markFor(scope: Scope): string {
  const target = scope.kind === 'user' ? '' : ` --project in ${JSON.stringify(scope.root)}`;
  return `# Added by \`baton hooks install codex${target}\`; \`baton hooks uninstall\` takes it out.`;
}

/** The content of a `hooks.json` without Baton's entries. */
function readJson(path: string): Config | undefined {
  const read = readFileText(path);
  const text = read.ok ? read.file.text : null;
  if (text === null) return undefined;
  const scanned = scanJson(jsonFile({ path, hooks: {} }).remove(text, () => true));
  return scanned.ok && scanned.root !== undefined ? { ...Object(valueOf(scanned.root)) } : undefined;
}

/** The rest of the file, without Baton's tables, which follow it. */
function readWithoutOurs(path: string, mark: string): Config | undefined {
  const read = readFileText(path);
  const text = read.ok ? read.file.text : null;
  const parsed = text === null ? undefined : parseToml(removeFromToml(text, mark));
  return parsed?.ok === true ? parsed.value : undefined;
}

type Config = Readonly<Record<string, unknown>>;

const EVENTS: Readonly<
  Record<Exclude<HookMoment, 'prompt'>, { readonly event: string; readonly key: string; readonly timeout: number }>
> = {
  start: { event: 'SessionStart', key: 'session_start', timeout: 20 },
  stop: { event: 'Stop', key: 'stop', timeout: 20 },
  end: { event: 'SessionEnd', key: 'session_end', timeout: 3 },
};

function moments({ options }: InstallRequest): readonly (keyof typeof EVENTS)[] {
  return options.onStop === 'allow' ? ['start', 'end'] : ['start', 'stop', 'end'];
}

function serverTables({ machine, options }: InstallRequest, before: Config): TomlTable[] {
  if (at(before, 'mcp_servers', 'baton') !== undefined) return [];
  const { command, args, env } = mcpServer('codex', options, machine);
  const pairs = Object.entries(env).map(([name, value]) => `${name} = ${renderTomlString(value)}`);
  const lines = [
    `command = ${renderTomlString(command)}`,
    `args = [${args.map(renderTomlString).join(', ')}]`,
    `env = { ${pairs.join(', ')} }`,
    // Agents that Baton started use this server too, and it must act for them. Codex passes on only the variables
    // listed here.
    `env_vars = [${['BATON_AGENT_ID', 'BATON_TOKEN', 'BATON_URL'].map(renderTomlString).join(', ')}]`,
  ];
  return [{ header: '[mcp_servers.baton]', lines }];
}

function hookTables(wanted: InstallRequest): TomlTable[] {
  return moments(wanted).map((moment) => {
    const { command, timeout } = handler(wanted, moment);
    const hook = `{ type = "command", command = ${renderTomlString(command)}, timeout = ${timeout} }`;
    return { header: `[[hooks.${EVENTS[moment].event}]]`, lines: [`hooks = [${hook}]`] };
  });
}

function handler({ options, machine }: InstallRequest, moment: keyof typeof EVENTS) {
  const command = hookCommand('codex', moment, options, machine);
  return { type: 'command', command, timeout: EVENTS[moment].timeout };
}

/** A hook's key is its file, event, group and index. Baton's groups are the last of their events. */
function trust(wanted: InstallRequest, path: string, before: Config | undefined): TomlTable[] {
  return moments(wanted).map((moment) => {
    const { event, key, timeout } = EVENTS[moment];
    const groups = at(before, 'hooks', event);
    const group = Array.isArray(groups) ? groups.length : 0;
    const command = hookCommand('codex', moment, wanted.options, wanted.machine);
    return {
      header: `[hooks.state.${renderTomlString(`${path}:${key}:${group}:0`)}]`,
      lines: [`trusted_hash = ${renderTomlString(trustedHash(key, command, timeout))}`],
    };
  });
}

function file(path: string, mark: string, tables: (before: Config) => readonly TomlTable[]): ClientFile {
  return {
    path,
    format: 'toml',
    add: (text) => {
      const before = parseToml(text);
      if (!before.ok) return before;
      const wanted = tables(before.value);
      const appended = appendToml(text, mark, wanted);
      const isTaken =
        at(before.value, 'mcp_servers', 'baton') !== undefined &&
        !wanted.some(({ header }) => header === '[mcp_servers.baton]');
      const notes = isTaken ? ['mcp_servers.baton already exists and is not changed'] : [];
      return appended.ok ? { ...appended, made: [], notes } : appended;
    },
    remove: (text) => removeFromToml(text, mark),
    find: (text) => {
      const read = parseToml(text);
      if (!read.ok) return { parts: [], problems: [read.what] };
      const events = Object.values(EVENTS).filter(({ event }) =>
        JSON.stringify(at(read.value, 'hooks', event) ?? '').includes(' hooks run codex '),
      );
      const server = at(read.value, 'mcp_servers', 'baton');
      const isOff = at(read.value, 'features', 'hooks') === false;
      return {
        parts: [...events.map(({ event }) => event), ...(isOwnMcpServer(server) ? ['MCP server'] : [])],
        problems: isOff ? ['features.hooks is false: no hook runs'] : [],
      };
    },
  };
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce(fieldOf, value);
}
