/** Makes the browser save a text as a file. Characters that a file name cannot contain become dashes. */
export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replaceAll(/[^A-Za-z0-9._-]/g, '-');
  link.click();
  // The browser reads the file after this call.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

const KEPT_MS = 60_000;
