import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { readModels } from '../api/account.ts';
import { gatewayUrl } from '../api/request.ts';
import { useLoad } from '../api/use-load.ts';
import { CopyButton, CopyValue } from '../ui/copy-value.tsx';
import { Shown } from '../ui/shown.tsx';
import { byTestPrice, CHAT, MESSAGES } from './cheapest.ts';
import { snippetsOf } from './snippets.ts';
import { TestCall } from './test-call.tsx';

/**
 * How to use a key: base URL, snippets for its clients with the value in them, and a test call. `token` is the key's
 * value.
 */
export function UseKey({ token }: { token: string }) {
  const models = useLoad((signal) => readModels(signal, token), token);
  const [name, setName] = useState('curl');
  return (
    <Shown of={models}>
      {(known) => {
        const texts = byTestPrice(known);
        const at = (path: string) => texts.find(({ endpoints }) => endpoints.includes(path))?.id ?? 'model';
        const snippets = snippetsOf(gatewayUrl(''), token, {
          chat: at(CHAT),
          messages: at(MESSAGES),
        });
        const snippet = snippets.find((one) => one.name === name) ?? snippets[0];
        if (snippet === undefined) return null;
        // The keyboard scrolls what is wider than its box.
        const frame = {
          className: 'snippet-text',
          role: 'region',
          tabIndex: 0,
          'aria-label': `Snippet for ${snippet.name}`,
        };
        return (
          <div className="use-key">
            <p className="hint">
              Base URL (Anthropic clients take it without <code>/v1</code>)
            </p>
            <CopyValue label="Base URL" value={gatewayUrl('/v1')} />
            <NativeSelect
              label="Client"
              value={snippet.name}
              data={snippets.map((one) => one.name)}
              onChange={(event) => setName(event.currentTarget.value)}
              mb="xs"
            />
            <div className="snippet">
              <div {...frame}>
                <pre>
                  <code>{snippet.text}</code>
                </pre>
              </div>
              <CopyButton label={`${snippet.name} snippet`} value={snippet.text} />
            </div>
            <p className="hint">{snippet.hint} It contains the key value.</p>
            <TestCall key={token} token={token} models={known} />
          </div>
        );
      }}
    </Shown>
  );
}
