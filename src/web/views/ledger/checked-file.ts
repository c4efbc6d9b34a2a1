import { signal } from '@preact/signals';
import { startJob } from '../../app/hub-client.ts';
import { go } from '../../app/router.ts';
import type { CheckedFile } from '../../hub/check-file.ts';

export interface FileCheckState {
  readonly name: string;
  readonly bytes: number;
  readonly doneBytes: number;
  /** Undefined while the check is running. */
  readonly result?: CheckedFile;
}

/** The file that was chosen last. It stays while the user views entries. */
export const checkedFile = signal<FileCheckState | undefined>(undefined);
let stop = (): void => {};

export function checkDropped(file: File): void {
  stop();
  const common = { name: file.name, bytes: file.size };
  checkedFile.value = { ...common, doneBytes: 0 };
  go({ view: 'ledger', id: 'check' });
  stop = startJob({ kind: 'check-file', file }, (report) => {
    checkedFile.value = report.isDone
      ? { ...common, doneBytes: file.size, result: report.result as CheckedFile } // oxlint-disable-line typescript/no-unsafe-type-assertion -- the result of this kind of job
      : { ...common, doneBytes: report.done };
  });
}
