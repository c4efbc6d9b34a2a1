import type { FilterName } from './filters/filters.ts';

/**
 * - `read`: visible, read-only.
 * - `filtered copy`: the session gets a copy without credentials.
 * - `client copy`: the session gets a copy that the client's adapter makes.
 * - `hidden`: absent, also if a folder around it is visible, until a runbook lists the path itself.
 */
type HomeTreatment = 'read' | 'filtered copy' | 'client copy' | 'hidden';

export interface HomeRow {
  readonly group: 'toolchain' | 'git identity' | 'cache' | 'credential' | 'client';
  readonly treatment: HomeTreatment;
  readonly why: string;
  /** Paths below HOME. */
  readonly paths: readonly string[];
  readonly filter?: FilterName;
}

/** Everything in HOME that a session can see. HOME itself is a private folder: paths without a row here are absent. */
export const HOME_TABLE: readonly HomeRow[] = [
  {
    group: 'toolchain',
    treatment: 'read',
    why: 'Compilers, interpreters and the programs they install. A session must not change what you run yourself.',
    paths: words`
      bin .local/bin .local/lib
      .nvm .fnm .local/share/fnm .volta .nodenv .nodebrew .n n .npm-global .npm-packages .local/share/pnpm .pnpm
      .yarn .config/yarn/global .bun .deno
      .mise .local/share/mise .config/mise .local/share/rtx .asdf .asdfrc .tool-versions .proto .version-fox .pkgx
      .pyenv .rye .pixi .poetry .local/share/pypoetry .local/share/uv .local/pipx .local/share/pipx
      .virtualenvs .local/share/virtualenvs
      miniconda3 anaconda3 miniforge3 mambaforge micromamba .conda
      .rbenv .rvm .gem/ruby .local/share/gem
      .rustup .cargo/bin .cargo/env go/bin sdk .goenv .gvm
      .sdkman .jenv .jabba .local/share/coursier .dotnet .swiftly .local/share/swiftly
      .ghcup .cabal/bin .stack/programs .opam .elan .juliaup .julia .plenv perl5 .luarocks
      .phpbrew .composer/vendor .config/composer/vendor .pub-cache .fvm flutter Android/Sdk .tfenv .tenv
      .nix-profile .local/state/nix
      .local/share/claude .claude/local .local/share/cursor-agent .opencode/bin
    `,
  },
  {
    group: 'toolchain',
    treatment: 'hidden',
    why: 'Part of pyenv that renews its read-only shims after each `pip install`, and fails.',
    paths: words`.pyenv/pyenv.d/exec/pip-rehash`,
  },
  {
    group: 'git identity',
    treatment: 'filtered copy',
    why: 'Name, address and preferences for commits, without tokens, credential helpers and signing.',
    paths: words`.gitconfig .config/git/config`,
    filter: 'git config',
  },
  {
    group: 'git identity',
    treatment: 'read',
    why: 'Patterns and templates that the configuration of git names.',
    paths: words`.gitignore .gitignore_global .gitattributes .gitmessage .config/git/ignore .config/git/attributes`,
  },
  {
    group: 'cache',
    treatment: 'read',
    why: 'Downloaded packages. Sessions write to a cache of their project.',
    paths: words`
      .npm/_cacache .yarn/berry/cache .cargo/registry .cargo/git go/pkg/mod .m2/repository .m2/wrapper
      .gradle/caches .gradle/wrapper .ivy2/cache .sbt/boot .nuget/packages .composer/cache .hex/packages
      .stack/pantry .cabal/packages
      .cache/pip .cache/uv .cache/pypoetry .cache/pre-commit .cache/go-build .cache/golangci-lint
      .cache/yarn .cache/pnpm .cache/deno .cache/node .cache/node-gyp .cache/prisma .cache/electron
      .cache/ms-playwright .cache/puppeteer .cache/Cypress .cache/bazel .cache/bazelisk .cache/coursier
      .cache/ccache .cache/sccache .cache/zig .cache/huggingface/hub .cache/mise .cache/composer
    `,
  },
  {
    group: 'credential',
    treatment: 'filtered copy',
    why: 'Registries and proxies stay, lines with a credential go.',
    paths: words`.npmrc`,
    filter: 'npmrc',
  },
  {
    group: 'credential',
    treatment: 'filtered copy',
    why: 'Package indexes stay, user names and passwords in their addresses go.',
    paths: words`.config/pip/pip.conf .pip/pip.conf .config/uv/uv.toml`,
    filter: 'pip.conf',
  },
  {
    group: 'credential',
    treatment: 'filtered copy',
    why: 'Settings of cargo stay, tokens of registries go.',
    paths: words`.cargo/config.toml .cargo/config`,
    filter: 'cargo config',
  },
  {
    group: 'credential',
    treatment: 'hidden',
    why: 'Keys and logins for machines and code hosts. Baton pushes and fetches for the session.',
    paths: words`
      .ssh .gnupg .netrc .git-credentials .config/git/credentials .config/gh .config/hub .config/glab-cli
      .config/github-copilot .copilot .subversion/auth .config/nix
    `,
  },
  {
    group: 'credential',
    treatment: 'hidden',
    why: 'Logins of clouds, clusters and services.',
    paths: words`
      .aws .azure .config/gcloud .kube .docker .config/containers .oci .boto .s3cfg .config/rclone .config/doctl
      .config/hcloud .fly .config/fly .config/netlify .netlify .vercel .local/share/com.vercel.cli .config/heroku
      .config/configstore .wrangler .config/.wrangler .config/stripe .config/turborepo .supabase .expo .sentryclirc
      .terraform.d .terraformrc .pulumi .vault-token .config/sops .config/age .databrickscfg .snowsql .snowflake
      .pgpass .my.cnf .mylogin.cnf .android
    `,
  },
  {
    group: 'credential',
    treatment: 'hidden',
    why: 'Tokens of package registries.',
    paths: words`
      .pypirc .yarnrc .yarnrc.yml .bunfig.toml .cargo/credentials .cargo/credentials.toml .gem/credentials
      .local/share/gem/credentials .bundle/config .m2/settings.xml .m2/settings-security.xml
      .gradle/gradle.properties .sbt/credentials .ivy2/.credentials .nuget/NuGet .config/NuGet .condarc
      .config/pypoetry .composer/auth.json .config/composer/auth.json .hex/hex.config .pub-cache/credentials.json
      .cache/huggingface/token .cache/huggingface/stored_tokens .huggingface .julia/servers .julia/logs
      .local/share/uv/credentials .rye/credentials .luarocks/upload_config.lua .config/mise/age.txt
      .dotnet/corefx .conda/.condarc miniconda3/.condarc anaconda3/.condarc miniforge3/.condarc mambaforge/.condarc
    `,
  },
  {
    group: 'credential',
    treatment: 'hidden',
    why: 'Password stores, browsers and programs with logins of their own.',
    paths: words`
      .password-store .local/share/keyrings .local/share/kwalletd .pki .config/op .op .1password .config/1Password
      .config/Bitwarden .mozilla .config/mozilla .thunderbird .config/google-chrome .config/chromium
      .config/BraveSoftware .config/microsoft-edge .config/vivaldi .config/opera .var/app snap .config/Signal
      .config/Slack .config/discord .config/Code .config/Cursor .config/JetBrains .vscode-server .cursor-server
    `,
  },
  {
    group: 'credential',
    treatment: 'hidden',
    why: 'Start files of shells often export secrets, and histories contain them.',
    paths: words`
      .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .config/fish
      .env .envrc .bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history
      .local/share/fish .local/share/direnv
    `,
  },
  {
    group: 'client',
    treatment: 'client copy',
    why: 'Settings and login of the client. Only a renewed login is written back.',
    paths: words`
      .claude .claude.json .codex .gemini .config/claude .config/opencode .local/share/opencode .config/goose
      .cursor .config/cursor .aider.conf.yml
    `,
  },
];

function words({ raw }: TemplateStringsArray): string[] {
  return (raw[0] ?? '').trim().split(/\s+/);
}
