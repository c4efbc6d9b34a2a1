import { openLimits } from '../limits/open-limits.ts';
import type { OpenMode, SandboxRequest } from '../mode.ts';
import type { OpenNetwork } from '../network/network-request.ts';
import { prepareBubblewrap } from './prepare-bubblewrap.ts';

/**
 * The preferred mode on Linux: namespaces, mounts and a system call filter. The sandboxed process dies with the caller.
 */
export function openBubblewrap({ spec, id, folder }: SandboxRequest, network: OpenNetwork): OpenMode {
  const { kind, procs, prlimit, notes, freeze, close } = openLimits(spec.limits, id);
  const { enter, unsharesNet, resolvConf } = network;
  return {
    limits: kind,
    notes,
    wrap: ({ argv, cwd, env, isTerminal }) => {
      const { bwrap } = spec;
      if (bwrap === null) return { ok: false, reason: 'bubblewrap is not installed' };
      const start = { spec, bwrap, argv, cwd, isTerminal, folder, enter, unsharesNet, resolvConf, procs, prlimit };
      const prepared = prepareBubblewrap(start);
      if (prepared.ok) return { ok: true, argv: prepared.argv, env };
      return { ok: false, reason: `${prepared.problem.message}. ${prepared.problem.hint}` };
    },
    started: () => {},
    freeze,
    close,
  };
}
