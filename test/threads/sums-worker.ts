import { answerQuestions } from '../../src/threads/worker-client.ts';

/** A worker for worker-client.test.ts that adds numbers. No numbers are an error; `Infinity` never ends. */
answerQuestions((numbers: readonly number[]): number => {
  if (numbers.length === 0) throw new Error('nothing to add');
  while (numbers.includes(Infinity));
  return numbers.reduce((sum, number) => sum + number, 0);
});
