/** A session's variables, split by how the engine gets their values. */
export interface EngineEnvironment {
  /** Arguments: `--env NAME`, and `--env NAME=value` for variables that the engine itself would obey. */
  readonly args: readonly string[];
  /** The environment of the engine's process, with the values of variables passed by name. */
  readonly env: Readonly<Record<string, string>>;
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Splits a session's variables. Every user of the machine can read arguments, so values are passed in the engine's
 * environment. A session's HOME or LD_PRELOAD must not reach the engine, which runs outside the container: such
 * variables are arguments, and none of them is a secret.
 */
export function engineEnvironment(session: Variables, own: Variables): EngineEnvironment {
  const args: string[] = [];
  const env: Record<string, string> = { ...pick(own), ...OWN_CONFIG };
  for (const [name, value] of Object.entries(session)) {
    if (value === undefined || !isEnvironmentName(name)) continue;
    args.push('--env', isObeyedByEngine(name) ? `${name}=${value}` : name);
    if (!isObeyedByEngine(name)) env[name] = value;
  }
  return { args, env };
}

export function isEnvironmentName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}

/** The variables of its caller that the engine needs. */
export function pick(own: Variables): Record<string, string> {
  const isPair = (pair: [string, string | undefined]): pair is [string, string] => pair[1] !== undefined;
  return Object.fromEntries(
    Object.entries(own)
      .filter(isPair)
      .filter(([name]) => NEEDED.test(name)),
  );
}

/**
 * A user's containers.conf could add volumes, devices, privileges and the host's variables to every container, so it is
 * replaced.
 */
export const OWN_CONFIG: Readonly<Record<string, string>> = { CONTAINERS_CONF: '/dev/null' };

const NEEDED =
  /^(?:PATH|HOME|USER|LOGNAME|TMPDIR|LANG|LC_ALL|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|CONTAINERS_STORAGE_CONF)$/;
const OBEYED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|PWD|TERM|TMPDIR|TMP|TEMP|TZ|TZDIR|LANG|LANGUAGE|LC_\w+|XDG_\w+|LD_\w+|GO(?:DEBUG|GC|MEMLIMIT|MAXPROCS|TRACEBACK)|DBUS_\w+|_?CONTAINERS_\w+|CONTAINER_(?:HOST|CONNECTION|SSHKEY)|STORAGE_(?:DRIVER|OPTS)|BUILDAH_\w+|PODMAN_\w+|DOCKER_(?:HOST|CONTEXT|CONFIG|CERT_PATH|TLS\w*|API_VERSION|CLI_\w+)|LISTEN_\w+|REGISTRY_AUTH_FILE|NETAVARK_\w+|NOTIFY_SOCKET|SSL_CERT_(?:FILE|DIR)|MALLOC_\w+|GLIBC_TUNABLES|GCONV_PATH)$/;

function isObeyedByEngine(name: string): boolean {
  return OBEYED.test(name);
}
