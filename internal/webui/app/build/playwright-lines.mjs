// Tells each test as `go test -v` does, so that CI counts all tests alike.
export default class Lines {
  onTestEnd(test, result) {
    const word = result.status === test.expectedStatus ? 'PASS' : result.status === 'skipped' ? 'SKIP' : 'FAIL';
    const name = test.titlePath().filter(Boolean).join('/').replaceAll(' ', '_');
    console.log(`--- ${word}: webui/e2e/${name} (${(result.duration / 1000).toFixed(2)}s)`);
    for (const { type, description } of result.annotations ?? []) console.log(`    ${type}: ${description}`);
    if (word === 'FAIL') for (const error of result.errors) console.log(`    ${error.stack ?? error.message ?? ''}`);
  }
  onError(error) {
    console.log(`--- FAIL: webui/e2e\n    ${error.stack ?? error.message ?? ''}`);
  }
}
