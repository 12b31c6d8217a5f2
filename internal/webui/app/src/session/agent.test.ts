import { expect, test } from 'vitest';
import { agentOf } from './agent';

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';
const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

test.each([
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/142.0.0.0 Safari/537.36`, 'Chrome 142', 'Windows'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/142.0.7444.59 Safari/537.36`, 'Chrome 142', 'Linux'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36`, 'Chrome 141', 'ChromeOS'],
  [`${IPHONE} CriOS/142.0.7444.46 Mobile/15E148 Safari/604.1`, 'Chrome 142', 'iOS'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`, 'Edge 142', 'Windows'],
  [`Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/142.0.0.0 Mobile Safari/537.36 EdgA/141.0.0.0`, 'Edge 141', 'Android'],
  [`${MAC} ${WEBKIT} Chrome/140.0.0.0 Safari/537.36 OPR/124.0.0.0`, 'Opera 124', 'macOS'],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet 28',
    'Android',
  ],
  [`${IPHONE} Mobile/15E148 MicroMessenger/8.0.65(0x18004132) NetType/WIFI Language/zh_CN`, 'WeChat 8', 'iOS'],
  [`${MAC} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15`, 'Safari 26', 'macOS'],
  [`${IPHONE} Version/18.6 Mobile/15E148 Safari/604.1`, 'Safari 18', 'iOS'],
  ['Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 Version/18.6 Mobile/15E148 Safari/604.1', 'Safari 18', 'iPadOS'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0', 'Firefox 144', 'Linux'],
  ['Mozilla/5.0 (Android 15; Mobile; rv:144.0) Gecko/144.0 Firefox/144.0', 'Firefox 144', 'Android'],
  [`${IPHONE} FxiOS/144.0 Mobile/15E148 Safari/605.1.15`, 'Firefox 144', 'iOS'],
  [`Mozilla/5.0 (Phone; OpenHarmony 5.0) ${WEBKIT} Chrome/132.0.0.0 Safari/537.36 ArkWeb/6.0`, 'Chrome 132', 'HarmonyOS'],
  ['Mozilla/5.0 (Unheard-of) Firefox/144.0', 'Firefox 144', ''],
])('%s', (userAgent, browser, system) => {
  expect(agentOf(userAgent)).toEqual({ browser, system });
});

test.each(['', 'curl/8.14.1', 'Mozilla/5.0', 'python-requests/2.32.5', 'Chrome/'])(
  'what is of no browser stays as it is: %s',
  (userAgent) => {
    expect(agentOf(userAgent)).toBeNull();
  },
);
