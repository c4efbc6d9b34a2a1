import { NO_LIMIT_OF_ITS_OWN } from '../../api/fleet-view.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { callOperation } from '../ask.ts';
import { type CliCommand, EXIT } from '../command.ts';
import { COMMON_OPTIONS, operationCommand, reportError } from '../operation-command.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { reportProblem } from '../problems.ts';
import { printable } from '../text.ts';
import { NO_FLEET, renderFleet } from './render-fleet.ts';

const hostArgument = { name: 'NAME', about: 'The host' } as const;

export const hostListCommand = operationCommand({
  examples: ['baton host list'],
  operation: 'fleet_show',
  input: () => ({ value: {} }),
  show: ({ fleet }) => (fleet === null ? NO_FLEET : renderFleet(fleet)),
});

export const hostAdmitCommand = operationCommand({
  examples: ['baton host admit beta 5b1e9c0d7f3a42688a1d03c6be94f217'],
  args: [
    { name: 'NAME', about: 'The host that asks to join' },
    { name: 'FINGERPRINT', about: 'The fingerprint of its key, as `baton host join` printed it on that machine' },
  ],
  operation: 'host_admit',
  input: ({ args: [host, fingerprint = ''] }) => ({ value: { host, fingerprint: fingerprint.toLowerCase() } }),
  show: ({ host, labels, agents, is_new }) => {
    const room = agents >= NO_LIMIT_OF_ITS_OWN ? 'any number of agents' : `agents: ${agents}`;
    const has = `${room}${labels.length === 0 ? '' : `, labels: ${labels.join(', ')}`}`;
    return printable(
      `Host ${host} ${is_new ? 'is admitted' : 'was already admitted, and is updated'} (${has}).`,
    ).concat('\n');
  },
});

export const hostDrainCommand = operationCommand({
  examples: ['baton host drain beta', 'baton host drain beta --undo'],
  args: [hostArgument],
  options: [{ name: 'undo', about: 'Give the host new work again' }],
  operation: 'host_drain',
  input: ({ args: [host], options }) => ({ value: { host, draining: !options.has('undo') } }),
  show: ({ host, draining }) =>
    draining
      ? `Host ${printable(host)} takes no new work. Sessions that run there end normally; see: baton host list\n`
      : `Host ${printable(host)} takes new work again.\n`,
});

/** Works in two steps: without `--confirm`, prints the effects and the command that removes the host. */
export const hostRemoveCommand: CliCommand = {
  examples: ['baton host remove beta --reason "the disk died"'],
  args: [hostArgument],
  options: [
    { name: 'reason', value: 'TEXT', needed: true, about: 'The reason, which is recorded' },
    { name: 'confirm', value: 'NAME', about: 'Repeat the name of the host to remove it' },
    ...COMMON_OPTIONS,
  ],
  operation: 'host_remove',
  json: [{ result: 'host_remove' }],
  async run(given, io) {
    const [host = ''] = given.args;
    const { options } = given;
    const reason = options.get('reason');
    if (reason === undefined || reason.trim() === '')
      return { usage: '--reason TEXT is needed; the reason is recorded' };
    const confirmed = options.get('confirm');
    if (confirmed !== undefined && confirmed !== host)
      return { usage: `--confirm must be the name of the host: ${host}` };
    if (confirmed === undefined) {
      const shown = await callOperation('fleet_show', {}, given, io);
      if (!shown.ok) return reportError(shown.error, given, io);
      const found = shown.result.fleet?.hosts.find(({ name }) => name === host);
      if (io.json !== true) io.err(describeRemoval(host, reason, found));
      else reportProblem(needsConfirm(host, reason), io);
      return EXIT.failed;
    }
    const removed = await callOperation('host_remove', { host, reason }, given, io);
    if (!removed.ok) return reportError(removed.error, given, io);
    io.out(
      options.has('json')
        ? `${JSON.stringify(removed.result)}\n`
        : `Host ${printable(host)} is removed, and its key is no longer trusted.\n`,
    );
    return EXIT.ok;
  },
};

function needsConfirm(host: string, reason: string): Pick<Problem, 'code' | 'message' | 'hint'> {
  const words = `${shellWord(host)} --reason ${shellWord(reason)} --confirm ${shellWord(host)}`;
  const message = `removing host ${host} ends the trust in its key, and cannot be undone`;
  return { code: 'host/needs-confirm', message, hint: `To remove it: baton host remove ${words}` };
}

function describeRemoval(
  host: string,
  reason: string,
  found: { readonly agents: { readonly running: number }; readonly claims: number } | undefined,
): string {
  const holds =
    found === undefined ? [] : [`  now: ${found.agents.running} agents running there, ${found.claims} claims held`];
  return [
    `Removing host ${host} means:`,
    '  its key is no longer trusted: everything that it writes after that is refused',
    '  its agents count as lost, and its claims end; work that it did not push stays on that machine',
    '  its tasks continue on other hosts from what was pushed',
    '  it can return only by joining again with a new key',
    ...holds,
    `To let it finish first: baton host drain ${shellWord(host)}`,
    `To remove it: baton host remove ${shellWord(host)} --reason ${shellWord(reason)} --confirm ${shellWord(host)}`,
  ]
    .map((line) => `${printable(line)}\n`)
    .join('');
}

export const hostRemoteCommand = operationCommand({
  examples: ['baton host remote git@github.com:acme/shop.git'],
  args: [{ name: 'URL', about: 'The git remote; every host must reach it' }],
  operation: 'host_remote',
  input: ({ args: [remote] }) => ({ value: { remote } }),
  show: ({ remote }) => `The hosts exchange work through ${printable(remote)} from now on.\n`,
});
