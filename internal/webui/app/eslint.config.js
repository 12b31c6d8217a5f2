import js from '@eslint/js';
import hooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

// Words a person reads come from src/locale, in both languages.
const spoken = String.raw`/[A-Za-z\u4e00-\u9fff]{2,}/u`;
const noText = [
  { selector: `JSXText[value=${spoken}]`, message: 'Text belongs into src/locale.' },
  { selector: `JSXExpressionContainer > Literal[value=${spoken}]`, message: 'Text belongs into src/locale.' },
  {
    selector: `JSXAttribute[name.name=/^(title|label|placeholder|alt|aria-label|description|message|content|okText|cancelText)$/] > Literal[value=${spoken}]`,
    message: 'Text belongs into src/locale.',
  },
];
const noAutoSize = {
  selector: 'JSXAttribute[name.name="autoSize"]',
  message: 'TextArea autoSize writes a style that the Content-Security-Policy refuses; set rows.',
};
const noStorage = { selector: 'Identifier[name=/^(localStorage|sessionStorage)$/]', message: 'Nothing is kept in web storage.' };

export default tseslint.config(
  { ignores: ['dist', 'node_modules', 'src/api/schema.d.ts', 'e2e/.output', 'screenshots'] },
  js.configs.recommended,
  tseslint.configs.strict,
  hooks.configs.flat['recommended-latest'],
  {
    files: ['**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-restricted-imports': [
        'error',
        {
          paths: [
            { name: 'antd', message: "Import by path: import Button from 'antd/es/button'." },
            { name: 'echarts', message: 'Only src/chart imports ECharts, from echarts/core.' },
            { name: '@ant-design/icons', message: "Import by path: import X from '@ant-design/icons/es/icons/X'." },
          ],
        },
      ],
    },
  },
  { files: ['src/**/*.{ts,tsx}'], rules: { 'no-restricted-syntax': ['error', noAutoSize, noStorage] } },
  {
    files: ['src/**/*.tsx'],
    ignores: ['src/**/*.test.tsx'],
    rules: { 'no-restricted-syntax': ['error', noAutoSize, noStorage, ...noText] },
  },
  { files: ['e2e/**/*.ts'], rules: { 'no-empty-pattern': 'off', 'react-hooks/rules-of-hooks': 'off' } }, // fixtures are given to `use`
  {
    files: ['build/*.mjs'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly', Buffer: 'readonly' } },
  },
);
