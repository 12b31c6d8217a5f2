// Tells each test as `go test -v` does, so that CI counts all tests alike.
export default class Lines {
  onTestCaseResult(test) {
    const { state, errors } = test.result();
    const word = state === 'passed' ? 'PASS' : state === 'skipped' ? 'SKIP' : 'FAIL';
    console.log(`--- ${word}: webui/${test.module.relativeModuleId}/${test.fullName.replaceAll(' ', '_')}`);
    for (const error of errors ?? []) console.log(`    ${error.stack ?? error.message}`);
  }
  onTestRunEnd(_modules, unhandled) {
    for (const error of unhandled) console.log(`--- FAIL: webui/unhandled\n    ${error.stack ?? error.message}`);
  }
}
