import type { NetworkPolicy, SandboxMode } from '../../protocol/sandbox.ts';
import { quote } from '../../protocol/shape/problem.ts';
import { buildNetwork, buildSandbox, isPolicy, type NetworkValue, type SandboxValue } from '../shape/access-shape.ts';
import type { Path, RunbookSubject } from './subject.ts';

/** Reports options that have no effect, and paths that two lists treat differently. */
export function checkSandboxes(subject: RunbookSubject): void {
  checkSandbox(subject, ['sandbox'], subject.value.sandbox);
  for (const [name, { sandbox }] of Object.entries(subject.value.agents ?? {}))
    checkSandbox(subject, ['agents', name, 'sandbox'], sandbox);
}

const LISTS = ['read', 'write', 'hide'] as const;

function checkSandbox(subject: RunbookSubject, path: Path, value: SandboxValue | undefined): void {
  if (value === undefined || typeof value === 'string') return;
  const { mode = 'auto', ...options } = value;
  const unused = Object.keys(options).filter((option) => mode === 'none' || (option === 'image' && !hasImage(mode)));
  for (const option of unused) {
    const hint = mode === 'none' ? 'The mode none has no options.' : 'Only the mode container uses an image.';
    const message = `${option} has no effect for the sandbox ${mode}`;
    subject.reportName('runbook/meaningless-option', [...path, option], message, hint);
  }
  const seen = new Map<string, string>();
  for (const list of LISTS) {
    for (const [index, each] of (value[list] ?? []).entries()) {
      const other = seen.get(each);
      const place = [...path, list, index];
      const twice = `${quote(each)} is in ${other ?? ''} and in ${list}`;
      if (other !== undefined) subject.report('runbook/defined-twice', place, twice, 'Keep one.');
      else checkPath(subject, place, each);
      seen.set(each, list);
    }
  }
}

function checkPath(subject: RunbookSubject, place: Path, path: string): void {
  if (path.split('/').includes('..'))
    subject.report(
      'invalid-value',
      place,
      `a path must not contain ..: ${quote(path)}`,
      'Write the path that is meant.',
    );
  if (/^(?:~?\/+|\.\/*)$/.test(path))
    subject.report(
      'invalid-value',
      place,
      `the path covers too much: ${quote(path)}`,
      'Name the folders in it that are needed.',
    );
}

function hasImage(mode: SandboxMode): boolean {
  return mode === 'container' || mode === 'auto';
}

/** Reports hosts that no session can reach, and policies that the sandbox cannot enforce. */
export function checkNetworks(subject: RunbookSubject): void {
  const { network, agents = {}, ci } = subject.value;
  checkHosts(subject, ['network'], network);
  checkEnforced(subject, ['network'], modeOf(subject), policyOf(network));
  for (const [name, agent] of Object.entries(agents)) {
    const path = ['agents', name, 'network'] as const;
    checkHosts(subject, path, agent.network);
    const isOwn = agent.sandbox !== undefined || agent.network !== undefined;
    const policy = policyOf(agent.network) ?? policyOf(network);
    const place = policyOf(agent.network) === undefined ? (['agents', name, 'sandbox'] as const) : path;
    if (isOwn) checkEnforced(subject, place, modeOf(subject, name), policy);
  }
  for (const [index, check] of (ci?.required ?? []).entries())
    checkHosts(subject, ['ci', 'required', index, 'network'], check.network);
}

function policyOf(value: NetworkValue | undefined): NetworkPolicy | undefined {
  return value === undefined ? undefined : buildNetwork(value).policy;
}

/** The mode of an agent, or the project's mode if the agent sets none. */
export function modeOf({ value }: RunbookSubject, agent?: string): SandboxMode {
  const own = agent === undefined ? undefined : value.agents?.[agent]?.sandbox;
  return (own && buildSandbox(own).mode) ?? (value.sandbox && buildSandbox(value.sandbox).mode) ?? 'auto';
}

/** Modes in which a session uses the machine's network. */
const ON_HOST_NETWORK: ReadonlySet<SandboxMode> = new Set(['none', 'user']);

function checkEnforced(subject: RunbookSubject, path: Path, mode: SandboxMode, policy: NetworkPolicy = 'full'): void {
  if (policy === 'full' || !ON_HOST_NETWORK.has(mode)) return;
  const shown = typeof policy === 'string' ? policy : 'a list of hosts';
  const message = `the sandbox ${mode} cannot limit the network to ${shown}`;
  const hint = 'Use the sandbox auto, bubblewrap or container, or set network = "full" here.';
  subject.report('runbook/unenforced-network', path, message, hint);
}

type Networks = NonNullable<RunbookSubject['value']['network']>;

function checkHosts(subject: RunbookSubject, path: Path, value: Networks | undefined): void {
  if (value === undefined) return;
  if (isPolicy(value)) return checkList(subject, path, value);
  for (const [field, policy] of Object.entries(value))
    if (field !== 'local') checkList(subject, [...path, field], policy);
}

function checkList(subject: RunbookSubject, path: Path, policy: unknown): void {
  if (!Array.isArray(policy)) return;
  for (const [index, host] of policy.map(String).entries()) {
    const [, name = '', port = '0'] = /^(.*?)(?::(\d+))?$/.exec(host.toLowerCase()) ?? [];
    const place = [...path, index];
    if (Number(port) > 65_535)
      subject.report('invalid-value', place, `${port} is not a port: ${quote(host)}`, 'A port is at most 65535.');
    else if (LOOPBACK.test(name)) {
      const hint = 'Name the port of this machine: network.local = [5432].';
      subject.report('invalid-value', place, `inside a sandbox ${quote(host)} is the session itself`, hint);
    } else if (METADATA.test(name)) {
      const message = `cloud metadata is never reachable: ${quote(host)}`;
      subject.report('invalid-value', place, message, 'Remove it; pass what the session needs in `env`.');
    }
  }
}

const LOOPBACK = /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[(?:::1|::|0*(?::0*){6}:0*1)\])$/;
const METADATA =
  /^(?:169\.254(?:\.\d+){2}|\[fe80:.*\]|\[fd00:ec2::254\]|metadata(?:\.google\.internal)?|100\.100\.100\.200)$/;
