#include "textflag.h"

// func indexPairs(p []byte, of *pairs) int
TEXT ·indexPairs(SB), NOSPLIT, $0-40
	MOVQ           p_base+0(FP), SI
	MOVQ           p_len+8(FP), CX
	MOVQ           of+24(FP), AX
	VBROADCASTI128 (AX), Y8
	VBROADCASTI128 16(AX), Y9
	VBROADCASTI128 32(AX), Y10
	MOVQ           SI, DI
	LEAQ           -39(SI)(CX*1), R8 // where the last block begins
	LEAQ           -32(R8), R9       // where the last two do

	// Each byte looks up, by its low half, which one it must be to begin a pair, and what must and must not stand behind it.
two:
	CMPQ      SI, R9
	JA        one
	VMOVDQU   (SI), Y0
	VMOVDQU   32(SI), Y4
	VPSHUFB   Y0, Y8, Y1
	VPSHUFB   Y4, Y8, Y5
	VPSHUFB   Y0, Y9, Y2
	VPSHUFB   Y4, Y9, Y6
	VPSHUFB   Y0, Y10, Y3
	VPSHUFB   Y4, Y10, Y7
	VPCMPEQB  Y0, Y1, Y1
	VPCMPEQB  Y4, Y5, Y5
	VPCMPEQB  2(SI), Y2, Y2
	VPCMPEQB  34(SI), Y6, Y6
	VPCMPEQB  7(SI), Y3, Y3
	VPCMPEQB  39(SI), Y7, Y7
	VPAND     Y1, Y2, Y1
	VPAND     Y5, Y6, Y5
	VPANDN    Y1, Y3, Y1
	VPANDN    Y5, Y7, Y5
	VPOR      Y1, Y5, Y2
	VPMOVMSKB Y2, AX
	ADDQ      $64, SI
	TESTL     AX, AX
	JZ        two
	SUBQ      $64, SI
	VPMOVMSKB Y1, AX
	TESTL     AX, AX
	JNZ       found
	ADDQ      $32, SI
	VPMOVMSKB Y5, AX
	JMP       found

one:
	CMPQ      SI, R8
	JLS       block
	MOVQ      R8, SI // the last block overlaps the one before

block:
	VMOVDQU   (SI), Y0
	VPSHUFB   Y0, Y8, Y1
	VPSHUFB   Y0, Y9, Y2
	VPSHUFB   Y0, Y10, Y3
	VPCMPEQB  Y0, Y1, Y1
	VPCMPEQB  2(SI), Y2, Y2
	VPCMPEQB  7(SI), Y3, Y3
	VPAND     Y1, Y2, Y1
	VPANDN    Y1, Y3, Y1
	VPMOVMSKB Y1, AX
	TESTL     AX, AX
	JNZ       found
	CMPQ      SI, R8
	JEQ       none
	ADDQ      $32, SI
	JMP       one

found:
	BSFL AX, AX
	SUBQ DI, SI
	ADDQ SI, AX
	VZEROUPPER
	MOVQ AX, ret+32(FP)
	RET

none:
	VZEROUPPER
	MOVQ $-1, ret+32(FP)
	RET

// func lastBreakIn(p []byte) int
TEXT ·lastBreakIn(SB), NOSPLIT, $0-32
	MOVQ         p_base+0(FP), DI
	MOVQ         p_len+8(FP), CX
	LEAQ         -33(DI)(CX*1), SI
	MOVL         $0x0a, AX
	MOVQ         AX, X1
	VPBROADCASTB X1, Y1

back:
	VPCMPEQB  (SI), Y1, Y2
	VPCMPEQB  1(SI), Y1, Y3
	VPAND     Y2, Y3, Y2
	VPMOVMSKB Y2, AX
	TESTL     AX, AX
	JNZ       there
	CMPQ      SI, DI
	JEQ       nowhere
	SUBQ      $32, SI
	CMPQ      SI, DI
	JAE       back
	MOVQ      DI, SI
	JMP       back

there:
	BSRL AX, AX
	SUBQ DI, SI
	LEAQ 2(SI)(AX*1), AX
	VZEROUPPER
	MOVQ AX, ret+24(FP)
	RET

nowhere:
	VZEROUPPER
	MOVQ $0, ret+24(FP)
	RET
