export type Environment = Readonly<Record<string, string | undefined>>;

export interface AllowedEnvironment {
  readonly passed: Readonly<Record<string, string>>;
  /** The names of the variables that were not passed on, sorted; never their values. */
  readonly dropped: readonly string[];
}

/**
 * Selects the variables that a started process gets. `pass` adds names, or prefixes with `*`. Baton's own variables are
 * never passed.
 */
export function allowedEnvironment(env: Environment, pass: readonly string[] = []): AllowedEnvironment {
  const isPassed = createNameMatcher([...ALWAYS_PASSED, ...pass]);
  const passed: Record<string, string> = {};
  const dropped: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (isPassed(name) && !isBatonVariable(name)) passed[name] = value;
    else if (!SHELL_VARIABLES.has(name)) dropped.push(name);
  }
  return { passed, dropped: dropped.sort() };
}

export function isBatonVariable(name: string): boolean {
  return name.startsWith('BATON_');
}

/** Matches names, or prefixes with `*`. */
export function createNameMatcher(patterns: readonly string[]): (name: string) => boolean {
  const names = new Set(patterns.filter((each) => !each.endsWith('*')));
  const prefixes = patterns.filter((each) => each.endsWith('*')).map((each) => each.slice(0, -1));
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

/** Every shell sets these itself, so they are not listed as dropped. */
const SHELL_VARIABLES: ReadonlySet<string> = new Set(['_', 'PWD', 'OLDPWD', 'SHLVL']);

/** Variables that every program gets: the user, the locale, the network, toolchains, and the author of commits. */
export const ALWAYS_PASSED: readonly string[] = `
PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TERM COLORTERM TMPDIR TMP TEMP XDG_* CI
http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY
SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS CURL_CA_BUNDLE REQUESTS_CA_BUNDLE GIT_SSL_CAINFO GIT_SSL_CAPATH
CARGO_HTTP_CAINFO PIP_CERT AWS_CA_BUNDLE NIX_SSL_CERT_FILE DENO_CERT DENO_TLS_CA_STORE HEX_CACERTS_PATH HTTPLIB2_CA_CERTS
GRPC_DEFAULT_SSL_ROOTS_FILE_PATH CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE npm_config_cafile NPM_CONFIG_CAFILE
NODE_USE_SYSTEM_CA NODE_USE_ENV_PROXY npm_config_proxy npm_config_https_proxy npm_config_noproxy grpc_proxy no_grpc_proxy
JAVA_HOME MAVEN_HOME M2_HOME GRADLE_HOME GRADLE_USER_HOME SDKMAN_DIR KOTLIN_HOME COURSIER_CACHE
ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_HOME FLUTTER_ROOT PUB_CACHE DOTNET_ROOT
GOPATH GOROOT GOBIN GOCACHE GOMODCACHE CARGO_HOME RUSTUP_HOME ZIG_GLOBAL_CACHE_DIR
NVM_DIR NVM_BIN FNM_DIR N_PREFIX VOLTA_HOME PNPM_HOME BUN_INSTALL DENO_DIR DENO_INSTALL
COREPACK_HOME YARN_CACHE_FOLDER npm_config_cache npm_config_prefix NODE_COMPILE_CACHE
PYENV_ROOT PYENV_VERSION VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE POETRY_HOME PIPX_HOME UV_CACHE_DIR PIP_CACHE_DIR
GEM_HOME GEM_PATH BUNDLE_PATH RBENV_ROOT RBENV_VERSION COMPOSER_HOME MIX_HOME HEX_HOME OPAMROOT STACK_ROOT
GHCUP_INSTALL_BASE_PREFIX ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR MISE_CONFIG_DIR HOMEBREW_PREFIX NIX_PATH NIX_PROFILES
GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM
`
  .trim()
  .split(/\s+/);
