import { HOST_NAME } from '../../protocol/fleet.ts';
import { flag, list, nothing, nullable, object, text, whole } from '../../protocol/shape/build-shape.ts';
import { fleetView } from '../fleet-view.ts';
import { operation } from './operation.ts';

const hostName = {
  kind: 'text',
  pattern: HOST_NAME.source,
  expected: 'lower-case letters, digits, dots and dashes, at most 63',
  about: 'The name of the host.',
} as const;

export const fleetShow = operation({
  name: 'fleet_show',
  about: 'Show the hosts of this project: state, load and lag of each, the caretaker, the database.',
  access: ['operator', 'worker', 'session', 'agent'],
  input: nothing,
  result: object({ fleet: { ...nullable(fleetView), about: 'Null if the project is on one machine.' } }),
});

export const hostAdmit = operation({
  name: 'host_admit',
  about: 'Admit a host that asks to join. From then on its key is trusted.',
  command: 'admit-host',
  tool: false,
  input: object({
    host: hostName,
    fingerprint: {
      kind: 'text',
      pattern: '^[0-9a-f]{32}$',
      expected: '32 hexadecimal digits, as `baton host join` printed them',
      about: 'The fingerprint of its key, as the host itself printed it.',
    },
  }),
  result: object({
    host: text,
    labels: list(text),
    agents: { ...whole, about: 'How many agents may run on it.' },
    is_new: {
      ...flag,
      about: 'False if the host was admitted before, and now has new labels or another number of agents.',
    },
  }),
});

export const hostDrain = operation({
  name: 'host_drain',
  about: 'Drain a host: it takes no new work, and its running work ends normally. `draining: false` undoes it.',
  command: 'drain-host',
  tool: false,
  input: object({ host: hostName, draining: { ...flag, about: 'True to drain the host, false to undo it.' } }),
  result: object({ host: text, draining: flag }),
});

export const hostRemove = operation({
  name: 'host_remove',
  about:
    'Remove a host that does not return: its key is no longer trusted, its agents count as lost, and its tasks continue on other hosts from the last push.',
  command: 'remove-host',
  tool: false,
  input: object({ host: hostName, reason: { kind: 'text', notEmpty: true, about: 'Why; it is recorded.' } }),
  result: object({ host: text }),
});

export const hostRemote = operation({
  name: 'host_remote',
  about: 'Change the git remote by which work travels between hosts.',
  command: 'change-remote',
  tool: false,
  input: object({
    remote: { kind: 'text', notEmpty: true, about: 'The URL of the remote; every host must reach it.' },
  }),
  result: object({ remote: text }),
});

export const storeAccept = operation({
  name: 'store_accept',
  about:
    'Record that this project continues with the ledger of its database, although a replica differs from it. Call it only after `baton store accept` has renamed that replica.',
  command: 'accept-store',
  tool: false,
  input: object({
    size: { ...whole, about: 'How many entries the database had when it was accepted.' },
    hash: {
      kind: 'text',
      pattern: '^[0-9a-f]{64}$',
      expected: '64 hexadecimal digits',
      about: 'The hash of the last of these entries.',
    },
    differs_at: { ...whole, about: 'The first entry that differs.' },
  }),
  result: object({ size: whole, hash: text }),
});
