import { defineCheck, type Diagnosis, ok, problem, warning } from '../finding.ts';

export interface ServiceFacts {
  /** Null if Baton writes no service files for this system. */
  readonly file: ServiceFileFacts | null;
}

interface ServiceFileFacts {
  readonly path: string;
  /** Null if there is no such file. */
  readonly content: 'ours' | 'foreign' | null;
  /** The Node and the Baton that the service starts. */
  readonly programs: readonly string[];
  readonly missing: readonly string[];
  readonly isThisBaton: boolean;
  /** Null if the service manager does not report it. */
  readonly isEnabled: boolean | null;
  readonly enable: string;
}

export const serviceCheck = defineCheck('service', 'The service file of `baton up --install-service`', {
  none: ok('No service is installed: a command that needs the daemon starts it'),
  installed: ok('The service starts this Baton, and is enabled'),
  'missing-program': problem('The service starts a Node or a Baton that does not exist', 'writes the file again'),
  'other-program': warning('The service starts another Baton than this one'),
  'not-enabled': warning('The service is installed, but not enabled'),
  foreign: warning('Something other than Baton wrote the service file'),
});

export function diagnoseService({ file }: ServiceFacts): readonly Diagnosis[] {
  if (file === null || file.content === null) return [serviceCheck.found('none', { detail: 'not installed' })];
  const { path, content, programs, missing, isThisBaton, isEnabled, enable } = file;
  if (content === 'foreign') {
    const fix = 'Make that service run: baton up --foreground';
    return [serviceCheck.found('foreign', { detail: `${path} was not written by Baton`, fix })];
  }
  const again = `baton up --install-service, then: ${enable}`;
  if (missing.length > 0) {
    const detail = `${path} starts ${missing.join(' and ')}, which does not exist`;
    return [serviceCheck.found('missing-program', { detail, fix: again, repair: { kind: 'write-service' } })];
  }
  if (!isThisBaton) {
    const detail = `${path} starts another Baton: ${programs.join(' ')}`;
    return [serviceCheck.found('other-program', { detail, fix: `To start this one: ${again}` })];
  }
  if (isEnabled === false)
    return [serviceCheck.found('not-enabled', { detail: `${path} is not enabled`, fix: enable })];
  const unknown = isEnabled === null ? '; the service manager does not report whether the service is enabled' : '';
  return [serviceCheck.found('installed', { detail: `${path}${unknown}` })];
}
