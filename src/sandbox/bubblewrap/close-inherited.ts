import { closeSync, readFileSync } from 'node:fs';
import { listFolderIfPresent } from '../../api/files.ts';

/**
 * Closes descriptors that this process inherited and would pass on: through a folder's descriptor, a session could
 * leave its mounts. Node marks its own descriptors as not inheritable.
 */
export function closeInheritedDescriptors(): void {
  for (const name of listFolderIfPresent('/proc/self/fdinfo')) {
    const descriptor = Number(name);
    if (descriptor <= 2) continue;
    try {
      const [, flags = ''] = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, 'utf8')) ?? [];
      if (flags !== '' && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0) closeSync(descriptor);
    } catch {
      // The descriptor was that of the folder listing.
    }
  }
}

const O_CLOEXEC = 0o2000000;
