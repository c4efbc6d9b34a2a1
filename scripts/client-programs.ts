import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

/** Writes a folder for a test's PATH that contains only the clients. */
export function writeShims(bin: string, modules: string): void {
  mkdirSync(bin, { recursive: true });
  for (const [name, command] of Object.entries(programsIn(modules))) {
    const path = join(bin, name);
    writeFileSync(path, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(' ')} "$@"\n`);
    chmodSync(path, 0o755);
  }
}

/**
 * The commands that start each client without its install script. Some packages have a start script that searches for
 * this platform's program; the program is started directly, because a start script would be one more process to kill.
 */
function programsIn(modules: string): Readonly<Record<string, readonly string[]>> {
  const platform = `${process.platform}-${process.arch}`;
  const native = (path: string): readonly string[] => [join(modules, path)];
  const script = (path: string): readonly string[] => [process.execPath, join(modules, path)];
  return {
    claude: native(`@anthropic-ai/claude-code-${platform}/claude`),
    codex: script('@openai/codex/bin/codex.js'),
    gemini: script('@google/gemini-cli/bundle/gemini.js'),
    opencode: native(`opencode-${platform.replace('win32', 'windows')}/bin/opencode`),
    qwen: script('@qwen-code/qwen-code/cli-entry.js'),
    copilot: native(`@github/copilot-${platform}/copilot`),
    grok: [unpacked(join(modules, `@xai-official/grok-${platform}/bin/grok`))],
    'claude-agent-acp': script('@agentclientprotocol/claude-agent-acp/dist/index.js'),
    'codex-acp': script('@agentclientprotocol/codex-acp/dist/index.js'),
  };
}

/** Unpacks Grok, which is compressed. Its start script would unpack 150 MB into the home of every test. */
function unpacked(path: string): string {
  const packed = `${path}.br`;
  if (!existsSync(path) && existsSync(packed)) {
    writeFileSync(path, brotliDecompressSync(readFileSync(packed)), { mode: 0o755 });
  }
  return path;
}
