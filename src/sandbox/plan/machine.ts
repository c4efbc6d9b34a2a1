/** Facts about the machine that a plan depends on. `readMachine` collects them; tests invent them. */
export interface Machine {
  readonly uid: number;
  /** The value of `$HOME`. */
  readonly home: string;
  /** The folders of `PATH`. */
  readonly path: readonly string[];
  /** Toolchains and certificates that the environment names. */
  readonly tools: readonly string[];
  /** Unix sockets that have a path and are listening. */
  readonly sockets: readonly string[];
  /** Paths in `ROOT_ONLY_FOLDERS` that other users cannot read. Empty unless Baton runs as root. */
  readonly privatePaths: readonly string[];
  /** Finds a path; undefined if it does not exist, or is a broken link. */
  readonly find: (path: string) => PathFact | undefined;
  /** The names in a folder; empty if it cannot be read. */
  readonly list: (folder: string) => readonly string[];
}

export interface PathFact {
  /** The kind of the path's target. */
  readonly kind: 'file' | 'folder' | 'other';
  /** The path without links. */
  readonly real: string;
  /** Whether other users cannot read it. */
  readonly isPrivate: boolean;
}

/**
 * Variables that name a toolchain or a certificate, at any path. CARGO_HOME is not included, because it contains
 * credentials.
 */
export const TOOL_VARIABLES: readonly string[] = `
JAVA_HOME MAVEN_HOME M2_HOME GRADLE_HOME SDKMAN_DIR KOTLIN_HOME ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_HOME FLUTTER_ROOT
DOTNET_ROOT GOROOT GOBIN RUSTUP_HOME NVM_DIR NVM_BIN FNM_DIR N_PREFIX VOLTA_HOME BUN_INSTALL DENO_INSTALL
PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX POETRY_HOME PIPX_HOME GEM_HOME RBENV_ROOT OPAMROOT ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR
HOMEBREW_PREFIX SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS CURL_CA_BUNDLE REQUESTS_CA_BUNDLE GIT_SSL_CAINFO
GIT_SSL_CAPATH CARGO_HTTP_CAINFO PIP_CERT AWS_CA_BUNDLE NIX_SSL_CERT_FILE DENO_CERT npm_config_cafile NPM_CONFIG_CAFILE
`
  .trim()
  .split(/\s+/);
