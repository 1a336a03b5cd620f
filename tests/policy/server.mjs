// Serves SmolLM2-135M-Instruct as an OpenAI-compatible endpoint on this machine: chat completions with tools.
//
//     node tests/policy/server.mjs FOLDER
//
// FOLDER is what policy_files.py made. A line of JSON with the port is printed once the model is loaded. The
// server ends when its standard input does, so that it never outlives who started it.

import {createServer} from "node:http";
import {availableParallelism} from "node:os";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";

const NAME = "SmolLM2-135M-Instruct";
const CONTEXT = 8192; // tokens: what the model was trained with
const END_OF_JSON = "\n\n\n\n"; // the library's grammars go on with line ends for ever
const LONGEST_REQUEST = 16 * 1024 * 1024; // bytes
const folder = resolve(process.argv[2]);
const library = pathToFileURL(resolve(folder, "node_modules/node-llama-cpp/dist/index.js")).href;
const {getLlama, LlamaGrammarEvaluationState} = await import(library);

// Threads wait for each other at every step: where one of them has to share its core with other work, answers
// take ten times as long. One core is left to the others.
const threads = Math.max(1, availableParallelism() - 1);
const llama = await getLlama({gpu: false, build: "never", logLevel: "error", maxThreads: threads});
const model = await llama.loadModel({modelPath: resolve(folder, `${NAME}.Q4_1.gguf`)});
const context = await model.createContext({contextSize: CONTEXT, sequences: 1, threads});
const sequence = context.getSequence();

class BadRequest extends Error {}

function toolInstructions(tools) {
  const functions = tools.map((tool) => JSON.stringify(tool.function ?? tool)).join("\n");
  return [
    "You can call these functions:",
    `<tools>\n${functions}\n</tools>`,
    "To call one or more of them, write nothing but the calls, as a JSON array between tags:",
    '<tool_call>[{"name": "function_name", "arguments": {"argument": "value"}}]</tool_call>',
    "If no function is needed, answer in plain text.",
  ].join("\n");
}

function textOf(message) {
  const {content} = message;
  const text = Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : content ?? "";
  if (!message.tool_calls?.length) return text;
  const calls = message.tool_calls.map((call) => {
    return `{"name": ${JSON.stringify(call.function.name)}, "arguments": ${call.function.arguments}}`;
  });
  return `${text}<tool_call>[${calls.join(", ")}]</tool_call>`;
}

/** The model's own prompt format. Only the marks are special tokens: text that spells one stays text. */
function promptTokens(messages, tools) {
  const turns = messages.map((message) => ({role: message.role, text: textOf(message)}));
  if (tools.length) {
    if (turns[0]?.role !== "system") turns.unshift({role: "system", text: ""});
    turns[0].text = `${turns[0].text}\n\n${toolInstructions(tools)}`.trim();
  }
  const tokens = [];
  const add = (text, special) => tokens.push(...model.tokenize(text, special, "trimLeadingSpace"));
  for (const {role, text} of turns) {
    add("<|im_start|>", true);
    add(`${role}\n${text}`, false);
    add("<|im_end|>", true);
    add("\n", false);
  }
  add("<|im_start|>", true);
  add("assistant\n", false);
  return tokens;
}

/** What an answer must be where `tool_choice` is "required": one call of one of the tools. */
async function grammarOf(request, tools) {
  if (request.tool_choice !== "required" || !tools.length) return undefined;
  const oneOf = tools.map(({function: {name, parameters}}) => {
    return {type: "object", properties: {name: {const: name}, arguments: parameters}};
  });
  const grammar = await llama.createGrammarForJsonSchema({oneOf});
  return new LlamaGrammarEvaluationState({model, grammar});
}

/** One answer. What its prompt shares with the answer before it is not computed again. */
async function sample(prompt, request, limit, grammar) {
  // Sums over other portions of a prompt round otherwise: an answer that is to be repeated starts from nothing.
  if (request.temperature === 0 || request.seed !== undefined) await sequence.clearHistory();
  await sequence.adaptStateToTokens(prompt.slice(0, -1), false); // at least one token must be evaluated
  const cached = sequence.nextTokenIndex;
  const answer = [];
  const stream = sequence.evaluate(prompt.slice(cached), {
    temperature: request.temperature ?? 1,
    topP: request.top_p ?? 1,
    topK: request.top_k ?? 0, // 0: every token can be drawn
    minP: 0,
    seed: request.seed ?? Math.floor(Math.random() * 2 ** 32),
    grammarEvaluationState: grammar,
  });
  let finish = "stop";
  for await (const token of stream) {
    answer.push(token);
    if (grammar && model.detokenize(answer).endsWith(END_OF_JSON)) break;
    if (answer.length >= limit) {
      finish = "length";
      break;
    }
  }
  return {text: model.detokenize(answer), finish, cached, length: answer.length};
}

/** The calls that an answer makes; null where it is text. */
function callsOf(text) {
  const tagged = /^\s*<tool_call>(.*?)(<\/tool_call>\s*)?$/s.exec(text);
  let calls;
  try {
    calls = [JSON.parse(tagged ? tagged[1] : text)].flat();
  } catch {
    return null;
  }
  const isCall = (call) =>
    typeof call?.name === "string" &&
    typeof call.arguments === "object" && call.arguments !== null && !Array.isArray(call.arguments);
  return calls.length && calls.every(isCall) ? calls : null;
}

let answers = 0;

async function complete(request) {
  if (!Array.isArray(request.messages)) throw new BadRequest("messages must be a list");
  const tools = request.tool_choice === "none" ? [] : request.tools ?? [];
  const prompt = promptTokens(request.messages, tools);
  const limit = request.max_completion_tokens ?? request.max_tokens ?? 256;
  if (prompt.length + limit > CONTEXT) {
    throw new BadRequest(`${prompt.length} tokens and ${limit} to come are more than ${CONTEXT}`);
  }
  const {text, finish, cached, length} = await sample(prompt, request, limit, await grammarOf(request, tools));
  const id = `answer-${++answers}`;
  const calls = tools.length ? callsOf(text) : null;
  const message = calls === null ? {role: "assistant", content: text} : {
    role: "assistant",
    content: null,
    tool_calls: calls.map((call, place) => ({
      id: `call-${answers}-${place}`,
      type: "function",
      function: {name: call.name, arguments: JSON.stringify(call.arguments)},
    })),
  };
  return {
    id,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: NAME,
    choices: [{index: 0, message, finish_reason: calls === null || finish === "length" ? finish : "tool_calls"}],
    usage: {
      prompt_tokens: prompt.length,
      completion_tokens: length,
      total_tokens: prompt.length + length,
      prompt_tokens_details: {cached_tokens: cached},
    },
  };
}

async function bodyOf(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > LONGEST_REQUEST) throw new BadRequest("the request is too long");
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch {
    throw new BadRequest("the request is no JSON");
  }
}

let turn = Promise.resolve(); // there is one sequence, so answers come one after another

async function reply(request) {
  const route = `${request.method} ${request.url}`;
  if (route === "GET /v1/models") return {object: "list", data: [{id: NAME, object: "model"}]};
  if (route !== "POST /v1/chat/completions") return null;
  const body = await bodyOf(request);
  const answer = turn.then(() => complete(body));
  turn = answer.catch(() => {});
  return answer;
}

const server = createServer(async (request, response) => {
  let status = 200;
  let body;
  try {
    body = await reply(request);
    if (body === null) [status, body] = [404, {error: {message: "there is nothing here"}}];
  } catch (error) {
    status = error instanceof BadRequest ? 400 : 500;
    body = {error: {message: String(error.message)}};
  }
  response.writeHead(status, {"content-type": "application/json"});
  response.end(JSON.stringify(body));
});

server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({port: server.address().port, model: NAME})));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
