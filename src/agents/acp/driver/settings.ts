import { readFileSync } from 'node:fs';
import type { AcpPermissions } from '../../../protocol/run-plan.ts';
import { isObject } from '../../../protocol/shape/read-unknown.ts';
import type { PermissionSetting, UsageReport } from '../preset.ts';

/** What the adapter tells the driver, in a file that holds no secret. */
export interface DriverSettings {
  readonly v: 1;
  /** The agent's name, for people. */
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  readonly permissions: AcpPermissions;
  /** The setting that makes the agent ask for permission. */
  readonly permissionSetting?: PermissionSetting;
  readonly files: boolean;
  readonly terminals: boolean;
  readonly mode?: string;
  readonly model?: string;
  readonly authenticate?: { readonly method: string; readonly variable: string };
  /** `_meta` of the client's capabilities. */
  readonly clientMeta?: object;
  readonly usage: UsageReport;
  /** Absent: as the agent says itself. */
  readonly resumes?: boolean;
  /** The session to load, of an earlier process. */
  readonly conversation?: string;
  /** The `baton` of the session's PATH, for agents that start MCP servers as programs. */
  readonly baton: string;
}

/** Throws if the file is missing or is no settings file: then no agent has been started. */
export function requireSettings(path: string): DriverSettings {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isSettings(value)) throw new Error(`${path} is no settings file of this driver`);
  return value;
}

function isSettings(value: unknown): value is DriverSettings {
  return isObject(value) && value['v'] === 1 && Array.isArray(value['argv']) && value['argv'].length > 0;
}
