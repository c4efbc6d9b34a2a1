import type { OpenMode, SandboxRequest } from '../mode.ts';
import type { OpenNetwork } from '../network/network-request.ts';
import { renderProfile } from './profile.ts';

/** The sandbox of macOS, which denies paths in place. It has no namespaces and no limits. */
export function openSandboxExec({ spec, stateDir, env }: SandboxRequest, _network: OpenNetwork): OpenMode {
  const profile = renderProfile({
    mounts: spec.mounts,
    closed: [stateDir, env['HOME'] ?? '/var/empty'],
    network: spec.network,
    ports: spec.network.port === null ? [] : [spec.network.port],
    sockets: [],
  });
  return {
    limits: 'none',
    notes: ['sandbox-exec limits neither processes nor memory, and its processes can outlive a timeout.'],
    wrap: ({ argv, env: whole }) => ({ ok: true, argv: ['/usr/bin/sandbox-exec', '-p', profile, ...argv], env: whole }),
    started: () => {},
    close: async () => {},
  };
}
