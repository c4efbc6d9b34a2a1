import { allowedEnvironment } from '../protocol/environment.ts';
import {
  escapeMarkup,
  type Notification,
  NOTIFICATION_LIMITS,
  type NotificationChannel,
  plainLine,
  plainText,
  type SendResult,
} from './channel.ts';
import { findProgram, runProgram } from './run-program.ts';

export interface DesktopOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  readonly timeoutMs?: number;
}

/**
 * A channel for desktop notifications. If a program fails, the next one is tried, unless the first may have shown the
 * notification.
 */
export function desktopChannel(options: DesktopOptions): NotificationChannel {
  const { env, platform = process.platform, timeoutMs = 5000 } = options;
  return {
    name: 'desktop',
    send: async (notification): Promise<SendResult> => {
      const text = textsOf(notification);
      const reasons: string[] = [];
      for (const { program, args } of platform === 'darwin' ? MACOS : FREEDESKTOP) {
        const path = findProgram(program, env);
        if (path === undefined) continue;
        const { passed } = allowedEnvironment(env, DESKTOP_VARIABLES);
        const ran = await runProgram(path, args(text), { env: passed, timeoutMs });
        if (ran.ok) return { ok: true };
        reasons.push(`${program}: ${ran.reason}`);
        if (ran.timedOut === true) break;
      }
      const none = platform === 'darwin' ? 'osascript was not found' : 'neither gdbus nor notify-send was found';
      return { ok: false, reason: reasons.join('; ') || none };
    },
  };
}

/** Reports whether the daemon runs in a desktop session and has a program that can show notifications there. */
export function hasDesktop({ env, platform = process.platform }: DesktopOptions): boolean {
  const isSession = platform === 'darwin' || SESSION_VARIABLES.some((name) => (env[name] ?? '') !== '');
  const programs = platform === 'darwin' ? MACOS : FREEDESKTOP;
  return isSession && programs.some(({ program }) => findProgram(program, env) !== undefined);
}

const SESSION_VARIABLES = ['DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS'];
const DESKTOP_VARIABLES = [...SESSION_VARIABLES, 'XAUTHORITY'];

type Texts = Pick<Notification, 'kind' | 'title' | 'message'>;

interface DesktopProgram {
  readonly program: string;
  readonly args: (text: Texts) => readonly string[];
}

const FREEDESKTOP: readonly DesktopProgram[] = [
  {
    program: 'gdbus',
    args: ({ kind, title, message }) => [
      'call',
      '--session',
      '--dest=org.freedesktop.Notifications',
      '--object-path=/org/freedesktop/Notifications',
      '--method=org.freedesktop.Notifications.Notify',
      variantText('Baton'),
      'uint32 0',
      variantText(''),
      variantText(title),
      variantText(escapeMarkup(message)),
      '@as []',
      `{"urgency": <byte ${URGENCY[kind].number}>}`,
      'int32 -1',
    ],
  },
  {
    program: 'notify-send',
    args: ({ kind, title, message }) => [
      '--app-name=Baton',
      `--urgency=${URGENCY[kind].name}`,
      '--',
      title,
      escapeMarkup(message),
    ],
  },
];

const MACOS: readonly DesktopProgram[] = [
  {
    program: 'osascript',
    // The texts are passed as arguments of the script, never as part of it.
    args: ({ title, message }) => [...SCRIPT.flatMap((line) => ['-e', line]), '--', title, message],
  },
];

const SCRIPT = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run'];

/** Urgencies. Notifications that need a person stay on the screen. */
const URGENCY = {
  attention: { number: 2, name: 'critical' },
  warning: { number: 1, name: 'normal' },
  failed: { number: 1, name: 'normal' },
  done: { number: 0, name: 'low' },
} as const;

/** Quotes text in GVariant's format, which `gdbus` parses. */
function variantText(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

function textsOf({ kind, title, message, url }: Notification): Texts {
  return {
    kind,
    title: plainLine(title, NOTIFICATION_LIMITS.titleCharacters),
    message: plainText(url === undefined ? message : `${message}\n${url}`, NOTIFICATION_LIMITS.messageCharacters),
  };
}
