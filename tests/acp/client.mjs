// A client on the protocol's TypeScript SDK: walks a session through its life, and prints what
// the agent answered. The arguments are the folder and the agent's command.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { PROTOCOL_VERSION, client, methods, ndJsonStream } from "@agentclientprotocol/sdk";

const [cwd, command, ...args] = process.argv.slice(2);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const { session } = methods.agent;
const updates = [];
let onText = () => {};

const app = client({ name: "walker" }).onNotification(methods.client.session.update, ({ params }) => {
  updates.push(params.update);
  if (params.update.sessionUpdate === "agent_message_chunk") onText();
});

const told = await app.connectWith(stream, async (ctx) => {
  const hello = await ctx.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: {},
  });
  const { sessionId } = await ctx.request(session.new, { cwd, mcpServers: [] });
  const say = (text, options) =>
    ctx.request(session.prompt, { sessionId, prompt: [{ type: "text", text }] }, options);
  const chosen = await ctx.request(session.setConfigOption, {
    sessionId,
    configId: "role",
    value: "planner",
  });
  const turn = await say("Hello?");
  const stop = new AbortController();
  onText = () => stop.abort();
  const cancelled = await say("Go on and on.", { cancellationSignal: stop.signal });
  await ctx.request(session.close, { sessionId });
  const listed = await ctx.request(session.list, { cwd });
  const resumed = await ctx.request(session.resume, { sessionId, cwd, mcpServers: [] });
  await ctx.request(session.delete, { sessionId });
  const left = await ctx.request(session.list, { cwd });
  return { sessionId, hello, chosen, turn, cancelled, listed, resumed, left, updates };
});
console.log(JSON.stringify(told));
agent.stdin.end();
