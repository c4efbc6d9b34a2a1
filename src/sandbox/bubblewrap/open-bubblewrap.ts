import { openLimits } from '../limits/open-limits.ts';
import type { SandboxSpec } from '../../protocol/sandbox.ts';
import type { OpenMode, SandboxedCommand, SandboxRequest } from '../mode.ts';
import type { OpenNetwork } from '../network/network-request.ts';
import { type BubblewrapStart, prepareBubblewrap } from './prepare-bubblewrap.ts';

/**
 * The preferred mode on Linux: namespaces, mounts and a system call filter. The sandboxed process dies with the caller.
 */
export function openBubblewrap(request: SandboxRequest, network: OpenNetwork): OpenMode {
  const { spec, id, folder } = request;
  const { kind, procs, prlimit, notes, freeze, close } = openLimits(spec.limits, id);
  const { bwrap } = spec;
  const shared = { bwrap, procs, prlimit };
  return {
    limits: kind,
    notes,
    wrap: ({ argv, cwd, env, isTerminal }) =>
      prepare({ ...shared, ...placeIn(network), spec, argv, cwd, isTerminal, folder }, env),
    wrapAside: ({ argv, cwd, env, folder: own, network: aside }) => {
      const commands = { ...spec, nested: false, mounts: spec.shell?.mounts ?? [] };
      return prepare(
        { ...shared, ...placeIn(aside), spec: commands, argv, cwd, env, isTerminal: false, folder: own },
        { PATH: request.env['PATH'] },
      );
    },
    started: () => {},
    freeze,
    close,
  };
}

function placeIn({ enter, unsharesNet, resolvConf }: OpenNetwork) {
  return { enter, unsharesNet, resolvConf };
}

type Start = Omit<BubblewrapStart, 'bwrap'> & { readonly bwrap: SandboxSpec['bwrap'] };

function prepare({ bwrap, ...start }: Start, env: NodeJS.ProcessEnv): SandboxedCommand {
  if (bwrap === null) return { ok: false, reason: 'bubblewrap is not installed' };
  const prepared = prepareBubblewrap({ ...start, bwrap });
  if (prepared.ok) return { ok: true, argv: prepared.argv, env };
  return { ok: false, reason: `${prepared.problem.message}. ${prepared.problem.hint}` };
}
