import type { Entry } from '../../ledger/format/entry.ts';
import type { Ledger, LedgerOptions } from '../../ledger/writer/ledger.ts';
import type { StoreHealth } from '../../protocol/resource-faults.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import type { Rules } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import type { Leases, LeaseTimes } from '../../state/tasks/lease.ts';
import type { FleetMemberOptions } from '../fleet/fleet-member.ts';
import type { CommandLoop } from '../loop/command-loop.ts';
import type { CommandLoopOptions, KeptMessages } from '../loop/request.ts';
import type { Fences } from './fences.ts';
import type { SnapshotLimits } from './snapshots.ts';

export interface ProjectOptions {
  readonly id: string;
  readonly path: string;
  readonly stateDir: string;
  readonly ledger: Omit<LedgerOptions, 'project' | 'clock' | 'onEntries'>;
  readonly rules: Rules;
  readonly leaseTimes: LeaseTimes;
  /** Loads what decisions need. If it returns a problem, the project stays closed. */
  readonly prepare?: (ledger: Ledger, state: State) => Promise<Problem | undefined>;
  readonly now: () => Date;
  readonly monotonicMs: () => number;
  readonly onEntries?: (entries: readonly Entry[]) => void;
  readonly onRecorded?: CommandLoopOptions['onRecorded'];
  readonly onMistake?: (error: unknown) => void;
  readonly onImport?: (line: string) => void;
  /** Called if a snapshot was discarded and all entries were folded instead. */
  readonly onDiscarded?: (name: string, why: string) => void;
  /** For tests. */
  readonly snapshotLimits?: SnapshotLimits;
  readonly onSnapshotError?: (error: unknown) => void;
  readonly messages?: KeptMessages;
  readonly onStoreHealth?: (health: StoreHealth) => void;
  readonly onTick?: (nowMs: number) => void;
  /** Loads what the entries of other hosts need before they are folded. */
  readonly beforeForeign?: (entries: readonly Entry[], ledger: Pick<Ledger, 'store' | 'sha256'>) => Promise<void>;
  /** Absent on SQLite. */
  readonly fleet?: Pick<FleetMemberOptions, 'host' | 'key' | 'tables' | 'url' | 'clock' | 'log'>;
}

export interface ProjectParts {
  readonly ledger: Ledger;
  readonly state: State;
  readonly commandLoop: CommandLoop;
  readonly leases: Leases;
  readonly fences: Fences;
  /** The number of entries in the stored snapshot. */
  readonly savedSize: number;
}
