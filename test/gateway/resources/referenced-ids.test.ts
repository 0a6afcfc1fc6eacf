import { test } from 'tap';
import { referencedIds } from '../../../src/gateway/resources/referenced-ids.ts';

const idsIn = (body: object) => [...referencedIds(JSON.parse(JSON.stringify(body))).keys()].sort();
const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const inTool = (tool: object) => ({ tools: [{ type: 'function', name: 'f', ...tool }] });
const item = (value: object) => ({ input: [value] });

test('every reference to a stored id is found, at any place', (t) => {
  for (const [name, body] of Object.entries({
    'responses: response': { previous_response_id: 'X' },
    'responses: conversation': { conversation: 'X' },
    'responses: conversation as an object': { conversation: { id: 'X' } },
    'responses: prompt': { prompt: { id: 'X', version: '1' } },
    'responses: file of a variable': {
      prompt: { variables: { picture: { type: 'input_image', file_id: 'X' } } },
    },
    'responses: container': { tools: [{ type: 'code_interpreter', container: 'X' }] },
    'responses: files of a container': { tools: [{ container: { type: 'auto', file_ids: ['X'] } }] },
    'responses: container of a shell': { tools: [{ type: 'shell', environment: { container_id: 'X' } }] },
    'responses: files of a shell': { tools: [{ type: 'shell', environment: { file_ids: ['X'] } }] },
    'responses: skill': {
      tools: [{ environment: { skills: [{ type: 'skill_reference', skill_id: 'X' }] } }],
    },
    'responses: mask': { tools: [{ type: 'image_generation', input_image_mask: { file_id: 'X' } }] },
    'responses: tunnel': { tools: [{ type: 'mcp', tunnel_id: 'X' }] },
    'responses: connector of the operator': { tools: [{ type: 'mcp', connector_id: 'X' }] },
    'responses: tools within a namespace': {
      tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'file_search', vector_store_ids: ['X'] }] }],
    },
    'responses: additional tools': item({
      type: 'additional_tools',
      role: 'developer',
      tools: [{ type: 'file_search', vector_store_ids: ['X'] }],
    }),
    'responses: tools that a search found': item({
      type: 'tool_search_output',
      tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['X'] } }],
    }),
    'responses: container of a call': item({
      type: 'shell_call',
      call_id: 'call_1',
      action: { commands: ['ls'] },
      environment: { type: 'container_reference', container_id: 'X' },
    }),
    'responses: container of code': item({
      type: 'code_interpreter_call',
      id: '',
      code: '1',
      container_id: 'X',
    }),
    'responses: item': item({ type: 'item_reference', id: 'X', content: 'x' }),
    'responses: item without a type': item({ id: 'X' }),
    'responses: message': item({ type: 'message', id: 'X', role: 'assistant', status: 'completed' }),
    'responses: message without content': item({ type: 'message', id: 'X', role: 'user', content: [] }),
    'responses: picture': item({ type: 'image_generation_call', id: 'X', status: 'completed', result: null }),
    'responses: reasoning': item({
      type: 'reasoning',
      id: 'X',
      summary: [{ type: 'summary_text', text: 'So.' }],
      encrypted_content: null,
      content: [],
    }),
    'responses: search': item({ type: 'web_search_call', id: 'X', status: 'completed' }),
    'responses: what was found': item({ type: 'file_search_call', id: 'X', queries: ['q'], results: null }),
    'responses: an item of a kind to come': item({ type: 'dream_call', id: 'X', role: null }),
    'responses: an item whose type is none': item({ type: 5, id: 'X', content: 'x' }),
    'responses: output of a function': item({
      type: 'function_call_output',
      call_id: 'call_1',
      output: [{ type: 'input_file', file_id: 'X' }],
    }),
    'responses: approval': item({ type: 'mcp_approval_response', approval_request_id: 'X', approve: true }),
    'responses: request by its id': {
      input: [
        { type: 'mcp_approval_request', id: 'X' },
        { type: 'mcp_approval_response', approval_request_id: 'X', approve: true },
      ],
    },
    'responses: cache of another response': { prompt_cache_options: { comparison_response_id: 'X' } },
    'chat: file': user({ type: 'file', file: { file_id: 'X' } }),
    'chat: sound': { messages: [{ role: 'assistant', audio: { id: 'X', data: 'AA', transcript: 'Hello' } }] },
    'chat: voice': { audio: { format: 'wav', voice: { id: 'X', type: 'custom' } } },
    'chat: file in the form of another': { messages: [{ role: 'tool', tool_call_id: 'c', file_ids: ['X'] }] },
    'chat: what Google keeps': { extra_body: { google: { cached_content: 'X' } } },
    'messages: container': { container: 'X' },
    'messages: container as an object': { container: { id: 'X', skills: [] } },
    'messages: skill': { container: { skills: [{ type: 'custom', skill_id: 'X', version: 'latest' }] } },
    'messages: document of the system': {
      system: [{ type: 'document', source: { type: 'file', file_id: 'X' } }],
    },
    'messages: picture in a result': user({
      type: 'tool_result',
      tool_use_id: 't',
      content: [{ type: 'image', source: { type: 'file', file_id: 'X' } }],
    }),
    'messages: upload': user({ type: 'container_upload', file_id: 'X' }),
    'messages: file that code made': user({
      type: 'bash_code_execution_tool_result',
      tool_use_id: 't',
      content: { type: 'bash_code_execution_result', content: [{ file_id: 'X' }] },
    }),
    'speech: voice': { input: 'Hello', voice: { id: 'X' } },
    'videos: character': { characters: [{ id: 'X', name: 'Ann', content: 'x' }] },
    'videos: remix': { remixed_from_video_id: 'X' },
    'videos: field of a form': { 'input_reference[file_id]': 'X' },
    'form: list of files': { 'file_ids[]': 'X' },
    'another case': user({ type: 'file', file: { File_ID: 'X' } }),
    'a letter that Go takes for an s': { tools: [{ environment: { 'file_id\u017f': ['X'] } }] },
    'a list where one is expected': { tools: [{ file_id: [['X']] }] },
    'a schema that is none': { tools: [{ type: 'x', Parameters: { file_id: 'X' } }] },
  })) {
    t.same(idsIn(body), ['X'], name);
  }
  t.end();
});

test('everyday requests contain no reference to stored ids', (t) => {
  for (const [name, body] of Object.entries({
    'the request itself': { id: 'X', model: 'm', user: 'X', safety_identifier: 'X', prompt_cache_key: 'X' },
    labels: { metadata: { user_id: 'X', file_id: 'X' }, client_metadata: { thread_id: 'X' } },
    'who asks': { user_id: 'X', request_id: 'X', session_id: 'X', trace: { trace_id: 'X', span_id: 'X' } },
    'a schema of a function': inTool({ parameters: { default: { file_id: 'X' }, id: 'X' } }),
    'a schema of a chat function': {
      tools: [{ type: 'function', id: 'X', function: { parameters: { examples: [{ id: 'X' }] } } }],
    },
    "a schema of Anthropic's": {
      tools: [{ name: 'f', input_schema: { properties: {}, example: { file_id: 'X' } } }],
    },
    'a schema of the answer': {
      response_format: { type: 'json_schema', json_schema: { schema: { default: { user_id: 'X' } } } },
      text: { format: { type: 'json_schema', schema: { const: { container: 'X' } } } },
      output_config: { format: { schema: { default: { file_id: 'X' } } } },
      guided_json: { file_id: 'X' },
    },
    'numbers of tokens': { stop_token_ids: [1, 2], logit_bias: { 50256: -100 }, n: 1 },
    'an open service': { tools: [{ type: 'mcp', connector_id: 'X', authorization: 'token' }] },
    'headers of a server': { tools: [{ type: 'mcp', server_url: 'u', headers: { 'X-Project-Id': 'X' } }] },
    'skills of the vendor': { container: { skills: [{ type: 'anthropic', skill_id: 'pptx' }] } },
    'plugins of OpenRouter': { plugins: [{ id: 'web', max_results: 3 }] },
    'turns with numbers': {
      messages: [
        { id: 'X', role: 'user', content: 'Hello' },
        { id: 'X', role: 'assistant', content: null, tool_calls: [{ id: 'X', function: { name: 'f' } }] },
        { id: 'X', role: 'tool', tool_call_id: 'X', content: '{"file_id":"X"}' },
        {
          role: 'assistant',
          content: '',
          reasoning_details: [{ type: 'reasoning.text', id: 'X', text: 'So' }],
        },
        { role: 'assistant', content: '', audio: null },
      ],
    },
    "what a model called Anthropic's tools with": {
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Hello', citations: [{ type: 'char_location', file_id: 'X' }] },
            { type: 'tool_use', id: 'X', name: 'f', input: { file_id: 'X', user_ids: ['X'], id: 'X' } },
            { type: 'server_tool_use', id: 'X', name: 'code_execution', input: { container: 'X' } },
            {
              type: 'tool_use',
              id: 'X',
              name: 'f',
              input: {},
              caller: { type: 'code_execution', tool_id: 'X' },
            },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'X', content: [{ type: 'text', text: 'X' }] },
            { type: 'browser_state', tabs: [{ tab_id: 'X' }], changes: [{ download_id: 'X' }] },
          ],
        },
      ],
      metadata: { user_id: 'X' },
      diagnostics: { previous_message_id: 'X' },
    },
    'an answer of the Responses API that is sent back': {
      input: [
        {
          type: 'message',
          id: 'X',
          role: 'assistant',
          content: [
            {
              type: 'output_text',
              text: 'See.',
              annotations: [{ type: 'container_file_citation', container_id: 'X', file_id: 'X' }],
            },
          ],
          internal_chat_message_metadata_passthrough: { conversation_id: 'X' },
        },
        { type: 'reasoning', id: 'X', summary: [], encrypted_content: 'gAAA' },
        { type: 'function_call', id: 'X', call_id: 'X', name: 'f', arguments: '' },
        { type: 'function_call_output', id: 'X', call_id: 'X', output: 'X' },
        { type: 'custom_tool_call', id: 'X', call_id: 'X', name: 'f', input: '' },
        { type: 'local_shell_call', id: 'X', call_id: 'X', action: { env: { AWS_ACCESS_KEY_ID: 'X' } } },
        { type: 'local_shell_call_output', id: 'X', output: '' },
        { type: 'apply_patch_call', id: 'X', call_id: 'X', operation: { type: 'delete_file', path: 'a' } },
        { type: 'tool_search_call', id: 'X', call_id: 'X', arguments: { file_id: 'X' } },
        { type: 'web_search_call', id: 'X', action: { type: 'search', query: 'q' } },
        { type: 'file_search_call', id: 'X', queries: ['q'], results: [{ text: 'found' }] },
        { type: 'image_generation_call', id: 'X', result: 'iVBOR' },
        { type: 'code_interpreter_call', id: 'X', code: '1', outputs: [{ type: 'logs', logs: '1' }] },
        { type: 'mcp_list_tools', id: 'X', server_label: 's', tools: [] },
        { type: 'mcp_call', id: 'X', name: 'f', arguments: '{}', approval_request_id: 'Y' },
        { type: 'mcp_approval_request', id: 'Y', name: 'f', arguments: '{}' },
        { type: 'mcp_approval_response', approval_request_id: 'Y', approve: true },
        {
          type: 'computer_call',
          id: 'X',
          call_id: 'X',
          actions: [],
          pending_safety_checks: [{ id: 'X', code: 'c' }],
        },
        {
          type: 'computer_call_output',
          call_id: 'X',
          output: { type: 'computer_screenshot', image_url: 'data:' },
          acknowledged_safety_checks: [{ id: 'X', code: 'c', message: 'm' }],
        },
        { type: 'program', id: 'X', call_id: 'X', code: '1' },
        { type: 'compaction', id: 'X', encrypted_content: 'gAAA' },
        { type: 'dream_call', id: 'X', dream: { deep: true } },
        { role: 'user', content: 'X' },
      ],
    },
    'a field of a form': { 'metadata[user_id]': 'X', 'timestamp_granularities[]': 'word' },
    'words that end so': { paid: 'X', grid: 'X', rapids: ['X'] },
    nothing: { conversation: null, previous_response_id: null, container: null, file_id: '' },
  })) {
    t.same(idsIn(body), [], name);
  }
  t.end();
});

// OpenAI's own models send it encrypted, vLLM and Ollama in plain text, for which the second turns of Codex and of the
// Agents SDK got 404.
test('reasoning that is sent along as text is no reference', (t) => {
  const plain = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'So.' }],
    encrypted_content: null,
  };
  t.same(idsIn({ store: false, input: [plain] }), []);
  t.end();
});

test('JSON that is nested very deep is walked without running out of stack', (t) => {
  const deep = `${'{"a":['.repeat(100_000)}{"file_id":"X"}${']}'.repeat(100_000)}`;
  t.same([...referencedIds(JSON.parse(deep))], [['X', 'file_id']]);
  t.end();
});
