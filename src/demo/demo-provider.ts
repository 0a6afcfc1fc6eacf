import { DemoAnswers } from './demo-answers.ts';
import { type Listening, type ListenOptions, listen, receive } from './listen.ts';
import { sendAnswer } from './send-answer.ts';

/** Starts the demo provider, by which `npm start` works without a provider's key. */
export function startDemoProvider(options: ListenOptions = {}): Promise<Listening> {
  const answers = new DemoAnswers();
  return listen(options, async (message, response) => {
    await sendAnswer(response, await answers.answerTo(await receive(message)));
  });
}
