/** An SSE event as OpenAI's Responses and Anthropic's Messages have them: named by the `type` of its data. */
export function namedEvent(data: Readonly<Record<string, unknown>> & { readonly type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
