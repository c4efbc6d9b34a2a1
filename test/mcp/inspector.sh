#!/usr/bin/env bash
# Lists and calls every tool over stdio with the CLI of the MCP inspector, a client that is not ours. Run by hand, since it
# fetches the inspector: test/mcp/inspector.sh
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
export PATH="$root/node_modules/.bin:$PATH"
work=$(mktemp -d)
export BATON_STATE_DIR="$work/state" MCP_CATALOG_PATH="$work/catalog.json" npm_config_update_notifier=false
mkdir -p "$BATON_STATE_DIR" && chmod 700 "$BATON_STATE_DIR"

git init -q "$work/repository"
git -C "$work/repository" -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m 'a commit'
commit=$(git -C "$work/repository" rev-parse HEAD)

AGENT_EXIT_PROTOCOL_ENABLED=true node "$root/src/daemon/main.ts" 2>"$work/daemon.err" &
daemon=$!
trap 'kill $daemon; wait $daemon || true; rm -rf "$work"' EXIT
until [ -s "$BATON_STATE_DIR/daemon.json" ]; do kill -0 $daemon; sleep 0.05; done

inspector=$(npx -y -p @modelcontextprotocol/inspector@2.12.0 -c 'command -v mcp-inspector' 2>/dev/null)
token=
inspect() {
  "$inspector" --cli --quiet --format json --cwd "$work/repository" -e "BATON_STATE_DIR=$BATON_STATE_DIR" \
    ${token:+-e "BATON_TOKEN=$token"} "$@" node "$root/test/mcp/stdio-main.ts"
}

called=()
# call TOOL JSON: a result, or an error that the tool itself reports. Anything else ends the script.
call() {
  called+=("$1")
  local code=0
  inspect --method tools/call --tool-name "$1" --tool-args-json "$2" >"$work/result.json" 2>"$work/error.json" || code=$?
  # 5: the tool reported an error.
  if [ $code -ne 0 ] && [ $code -ne 5 ]; then cat "$work/error.json" >&2; exit 1; fi
  [ $code -eq 5 ] && printf '%-20s refused  ' "$1" || printf '%-20s ok       ' "$1"
  node -e '
    const { result = {} } = { result: JSON.parse(require("fs").readFileSync(process.argv[1], "utf8") || "{}") };
    const found = result.result ?? result;
    console.log(JSON.stringify(found.structuredContent ?? found).slice(0, 140));
    require("fs").writeFileSync(process.argv[2], String(found.structuredContent?.token ?? ""));
  ' "$work/result.json" "$work/token"
}

claim() {
  token=
  call task_claim "{\"task_id\": \"$1\", \"as\": \"inspector\", \"role\": \"implementer\"}"
  token=$(cat "$work/token")
}

record() {
  printf '{"task_id": "%s", "branch": "feature/x", "commit_sha": "%s", "tests_run": [], "summary": "Done.", "blockers": [], "files_changed": [], "related_thought_records": []}' "$1" "$commit"
}

inspect --method tools/list >"$work/tools.json"
inspect --method resources/list >/dev/null
inspect --method prompts/list >/dev/null
for id in T001 T002 T003; do node "$root/bin/baton.cjs" task add "$id" --title "Task $id" --project "$work/repository" >/dev/null; done
call task_list '{}'
call task_get '{"task_id": "T001"}'
call task_next_actions '{"limit": 2}'
call task_brief '{"task_id": "T001"}'

claim T001
call task_heartbeat '{"task_id": "T001"}'
call mission_get '{}'
call task_create '{"task_id": "T004", "title": "Found on the way"}'
call task_update '{"task_id": "T001", "status": "in_progress", "progress": 50}'
call agent_signal '{"kind": "continue"}'
call form_get '{"kind": "record"}'
call audit_session_start '{"task_id": "T001"}'
call audit_verify_chain '{}'
call thought_record "$(record T001)"
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
line="{\"level\": \"info\", \"message\": \"Done.\", \"timestamp\": \"$now\"}"
call result_submit "{\"version\": \"1\", \"task_id\": \"T001\", \"status\": \"completed\", \"files_modified\": [], \"log\": [$line, $line], \"completed_at\": \"$now\"}"
fixture="$root/test/fixtures/handoff/implementer-agent-to-reviewer-agent.xml"
call handoff_send "$(sed 's/>123</>1</' "$fixture" | node -p 'JSON.stringify({ handoff: require("fs").readFileSync(0, "utf8") })')"
call exit_signal '{"protocol": "apm2_agent_exit", "version": "1.0.0", "phase_completed": "IMPLEMENTATION", "exit_reason": "completed"}'
call merkle_finalize '{}'
call merkle_root '{}'

claim T002
call task_complete "$(record T002)"
claim T003
call task_worktree '{}'
call task_release '{"task_id": "T003", "reason": "a test"}'

# Calls every other tool, so that a new one is covered.
listed=$(node -p 'const { tools, result } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")); (tools ?? result.tools).map(({ name }) => name).join("\n")' "$work/tools.json")
for name in $listed; do [[ " ${called[*]} " == *" $name "* ]] || call "$name" '{}'; done
echo "every tool was called: $(wc -w <<<"$listed")"
