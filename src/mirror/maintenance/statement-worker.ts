// Entry of the process of statement-process.ts: what it can be asked.
import { judgeMirror } from './proof.ts'
import { answerOnce } from './statement-process.ts'
import { vacuum } from './vacuum.ts'
import { checkMirror } from './verify.ts'

answerOnce({ checkMirror, judgeMirror, vacuum })
