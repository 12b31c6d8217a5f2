import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [react()],
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.{ts,tsx}'],
    reporters: process.env['GO_STYLE'] ? ['./build/vitest-lines.mjs'] : ['default'],
  },
});
