import { readFileSync } from 'node:fs';
import type { AcpPermissions } from '../../../protocol/run-plan.ts';
import { isObject } from '../../../protocol/shape/read-unknown.ts';
import type { PermissionSetting, UsageReport } from '../preset.ts';

/** What the adapter passes to the driver, in a file without secrets. */
export interface DriverSettings {
  readonly v: 1;
  /** The agent's name as shown to people. */
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
  /** The `_meta` field of the client's capabilities. */
  readonly clientMeta?: object;
  readonly usage: UsageReport;
  /** Whether the agent can resume. If absent, the agent's own capabilities decide. */
  readonly resumes?: boolean;
  /** The session of an earlier process to load. */
  readonly conversation?: string;
  /** The path of `baton` on the session's PATH, for agents that start MCP servers as programs. */
  readonly baton: string;
}

/** Throws if the file is missing or invalid. No agent has been started then. */
export function requireSettings(path: string): DriverSettings {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isSettings(value)) throw new Error(`${path} is no settings file of this driver`);
  return value;
}

function isSettings(value: unknown): value is DriverSettings {
  return isObject(value) && value['v'] === 1 && Array.isArray(value['argv']) && value['argv'].length > 0;
}
