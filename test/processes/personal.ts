import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the person's own configuration of a test: approvals count without proof, because most reviewers of the tests
 * are plain commands, about which a person would be asked each time.
 */
export function acceptUnproven(home: string): void {
  mkdirSync(join(home, '.config/baton'), { recursive: true });
  writeFileSync(personalFile(home), '[review]\nunseparated = "accept"\n');
}

export function personalFile(home: string): string {
  return join(home, '.config/baton/config.toml');
}
