import { CHAT, expect, mailedCode, test as plain } from './test';
import { WebKit } from './webkit';

// What the other specs show in Chromium in full: here the journey of a day, in the engine of Safari.

const test = plain.extend<{ webkit: WebKit }>({
  webkit: async ({ baseURL }, use) => {
    const webkit = await WebKit.open(baseURL!);
    await use(webkit);
    await webkit.close();
  },
});

test('WebKit: from the sign-in by way of a first call, the overview and the application’s calls to why one failed', async ({
  webkit,
  request,
  baseURL,
}) => {
  await webkit.goto('/applications');
  const email = `webkit-${Date.now()}@example.com`;
  await webkit.type('input[type=email]', email);
  await webkit.click({ tag: 'button', text: 'Send code' });
  await webkit.click('.ant-otp-input');
  await webkit.press(await mailedCode(request, baseURL!, email));
  await webkit.heading('Applications');
  await webkit.press('n');
  await webkit.type('[role=dialog] input', 'Search');
  await webkit.click({ tag: 'label', text: 'Demo chat' });
  await webkit.click({ tag: 'button', text: 'Create' });
  const key = await (await webkit.find('code.key')).getText();
  const answer = await request.post(`${baseURL}/gateway/v1/chat/completions?model=${CHAT}`, {
    data: { model: 'demo-error-429', messages: [] },
    headers: { Authorization: `Bearer ${key}`, Cookie: '' },
  });
  expect(answer.status()).toBe(429);
  await webkit.click({ tag: 'button', text: 'Open application' });
  await webkit.heading('Search');

  await webkit.click({ tag: 'a', text: 'Overview' });
  await webkit.heading('Overview');
  await webkit.find('canvas');
  await webkit.expectAccessible();
  await webkit.click({ tag: 'a', text: 'Applications' });
  await webkit.heading('Applications');
  await webkit.click({ tag: 'a', text: 'Search' });
  await webkit.heading('Search');
  await webkit.expectAccessible();
  await webkit.click({ tag: 'a', text: 'Upstream answered 429' });
  await webkit.click('.calls-table tr.call td');
  expect(await (await webkit.find('.verdict')).getText()).toContain('The upstream answered 429');
  expect(await webkit.path()).toMatch(/^\/applications\/[0-9a-f-]{36}\/calls\/[0-9a-f-]{36}\?/);
  await webkit.expectAccessible();
  expect(await webkit.faults()).toEqual([]);
});
