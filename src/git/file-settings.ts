import { git } from './run-git.ts';

/**
 * What the configuration of a repository says about its files: whether the file system has mode bits and links, whether it tells upper case
 * from lower case, and how line ends are written. As arguments of git. None of these settings names a program; values that git does not
 * know are left out.
 */
export async function readFileSettings(checkout: string): Promise<string[]> {
  const asked = String.raw`^core\.(filemode|symlinks|ignorecase|autocrlf|eol)$`;
  const listed = await git(['config', '-z', '--get-regexp', asked], { cwd: checkout, answers: [1] });
  if (!listed.ok) return [];
  return listed.value.stdout.split('\0').flatMap((setting) => {
    const end = setting.indexOf('\n');
    const name = end === -1 ? setting : setting.slice(0, end);
    // A key without a value is true.
    const value = end === -1 ? 'true' : setting.slice(end + 1).toLowerCase();
    return VALUES[name]?.test(value) === true ? ['-c', `${name}=${value}`] : [];
  });
}

const BOOLEAN = /^(?:true|false|yes|no|on|off|1|0)$/;
const VALUES: Readonly<Record<string, RegExp>> = {
  'core.filemode': BOOLEAN,
  'core.symlinks': BOOLEAN,
  'core.ignorecase': BOOLEAN,
  'core.autocrlf': /^(?:true|false|yes|no|on|off|1|0|input)$/,
  'core.eol': /^(?:lf|crlf|native)$/,
};
