import { closeSync, readFileSync } from 'node:fs';
import { listFolderIfPresent } from '../../api/files.ts';

/**
 * Closes descriptors that this process inherited and would pass on: through one of a folder a session could leave its mounts.
 * Node marks its own descriptors as not to be inherited.
 */
export function closeInheritedDescriptors(): void {
  for (const name of listFolderIfPresent('/proc/self/fdinfo')) {
    const descriptor = Number(name);
    if (descriptor <= 2) continue;
    try {
      const [, flags = ''] = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, 'utf8')) ?? [];
      if (flags !== '' && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0) closeSync(descriptor);
    } catch {
      // It was the one of the listing itself.
    }
  }
}

const O_CLOEXEC = 0o2000000;
