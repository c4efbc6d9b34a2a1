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
  about: 'The hosts of this project: state, load and lag of each, the caretaker, the database. Null on one machine.',
  access: ['operator', 'worker', 'session', 'agent'],
  input: nothing,
  result: object({ fleet: nullable(fleetView) }),
});

export const hostAdmit = operation({
  name: 'host_admit',
  about: 'Admit a host that asks to join: its key is trusted from then on.',
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
    agents: whole,
    is_new: { ...flag, about: 'False: it was in, and has new labels or another number of agents.' },
  }),
});

export const hostDrain = operation({
  name: 'host_drain',
  about: 'A draining host takes no new work; what runs there ends normally. `draining: false` undoes it.',
  command: 'drain-host',
  tool: false,
  input: object({ host: hostName, draining: flag }),
  result: object({ host: text, draining: flag }),
});

export const hostRemove = operation({
  name: 'host_remove',
  about:
    'Remove a host that does not return: its key is no longer trusted, its agents count as lost, and its tasks continue elsewhere from what was pushed.',
  command: 'remove-host',
  tool: false,
  input: object({ host: hostName, reason: { kind: 'text', notEmpty: true, about: 'Why; it is recorded.' } }),
  result: object({ host: text }),
});

export const hostRemote = operation({
  name: 'host_remote',
  about: 'Record another git remote, by which the work of the hosts travels.',
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
    'Record that this project goes on with the ledger of its database, although a replica differs from it. Only after `baton store accept` has set that replica aside.',
  command: 'accept-store',
  tool: false,
  input: object({
    size: { ...whole, about: 'How many entries the database had when it was accepted.' },
    hash: { kind: 'text', pattern: '^[0-9a-f]{64}$', expected: '64 hexadecimal digits', about: 'Of its last entry.' },
    differs_at: { ...whole, about: 'The first entry that differs.' },
  }),
  result: object({ size: whole, hash: text }),
});
