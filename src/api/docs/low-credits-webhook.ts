import { VERSION } from '../../config/version.ts';
import type { JsonSchema } from './json-type.ts';

/** Schema of the alert's body (specification section 6). */
const ALERT: JsonSchema = {
  title: 'LowCreditsAlert',
  type: 'object',
  required: ['event', 'user_email', 'credits_balance'],
  additionalProperties: false,
  properties: {
    event: { type: 'string', const: 'low_credits' },
    user_email: { type: 'string', description: 'E-mail address of the owner of the account.' },
    credits_balance: {
      type: 'number',
      description:
        'Credits right after the debit that fell below the threshold; of a test alert, those of now.',
    },
  },
};

const header = (name: string, description: string, schema: JsonSchema, example: string, required = true) => ({
  in: 'header',
  name,
  description,
  required,
  schema: { type: 'string', ...schema },
  example,
});

/** The webhook of the document: the request that the gateway sends (specification section 6). */
export const LOW_CREDITS_WEBHOOK = {
  operationId: 'lowCreditsAlert',
  tags: ['Account'],
  summary: 'Low-credits alert',
  description:
    'Sent to the `webhook_url` of every active key when a debit takes the balance from the threshold of the account or ' +
    'more to below it: once for each such crossing, and again only after a top-up has lifted the balance over it. There ' +
    'are 10 seconds for name resolution, connection and answer; redirects are not followed, and nothing is sent again. ' +
    '`GET /api/account/alerts/` tells what became of it.\n\n' +
    'Signed as [Standard Webhooks](https://www.standardwebhooks.com) says, with the `webhook_secret` of the account: the ' +
    'signature is the base64 of an HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`, keyed with the bytes that ' +
    'stand in base64 behind `whsec_`.',
  security: [],
  parameters: [
    header('webhook-id', 'Names this message to this key.', { pattern: '^msg_\\d+_\\d+$' }, 'msg_3_1'),
    header(
      'webhook-timestamp',
      'When it was sent: Unix time in seconds.',
      { pattern: '^\\d+$' },
      '1795242083',
    ),
    header(
      'webhook-signature',
      'The version of the scheme, and the signature in base64.',
      { pattern: '^v1,[A-Za-z0-9+/]+={0,2}$' },
      'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    ),
    header('webhook-test', 'There in a test alert only.', { const: 'true' }, 'true', false),
    header('user-agent', 'The gateway and its version.', { pattern: '^Tollgate/' }, `Tollgate/${VERSION}`),
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: ALERT,
        examples: {
          alert: {
            value: { event: 'low_credits', user_email: 'demo@example.com', credits_balance: 99.994876 },
          },
        },
      },
    },
  },
  responses: {
    '2XX': { description: 'Delivered, whatever the body says.' },
    default: { description: 'Failed; a redirect is a failure too.' },
  },
};
