import type { Shape } from './json-sieve.ts';

/** What is kept of a whole answer that is too large to be held: what any of the meters looks for but the words. */
export const ANSWER_SHAPE: Shape = {
  id: 'all',
  type: 'all',
  status: 'all',
  error: 'all',
  usage: 'all',
  // Of transcripts and videos.
  duration: 'all',
  seconds: 'all',
  // Of responses, and of messages.
  store: 'all',
  output: [{ type: 'all', id: 'all', container_id: 'all' }],
  container: { id: 'all' },
  // Of what was spoken in a chat.
  choices: [{ message: { audio: { id: 'all' } } }],
  // Of pictures, which are counted.
  data: [{}],
};
