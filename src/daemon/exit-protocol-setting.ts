import { watchRunbook } from '../runbook/read-runbook.ts';

/**
 * `exit_protocol` of a repository's runbook, read again whenever a file of it changes. A mistake elsewhere in the runbook does not switch
 * it off; while the files cannot be read at all, what was last read holds.
 */
export function exitProtocolSetting(repository: string): () => boolean {
  const runbook = watchRunbook(repository);
  let isOn = false;
  return () => {
    const { subject, isReadable } = runbook();
    if (isReadable) isOn = subject.value.exit_protocol ?? false;
    return isOn;
  };
}
