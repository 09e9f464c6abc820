; The steps of CRC-32C over 8, 4 and 1 bytes that source.CRC32C names: on x86-64, each one instruction.

define linkonce_odr i64 @gradledger_crc32c_8(i64 %crc, i64 %data) alwaysinline {
  %new = call i64 @llvm.x86.sse42.crc32.64.64(i64 %crc, i64 %data)
  ret i64 %new
}

define linkonce_odr i64 @gradledger_crc32c_4(i64 %crc, i32 %data) alwaysinline {
  %old = trunc i64 %crc to i32
  %new = call i32 @llvm.x86.sse42.crc32.32.32(i32 %old, i32 %data)
  %wide = zext i32 %new to i64
  ret i64 %wide
}

define linkonce_odr i64 @gradledger_crc32c_1(i64 %crc, i8 %data) alwaysinline {
  %old = trunc i64 %crc to i32
  %new = call i32 @llvm.x86.sse42.crc32.32.8(i32 %old, i8 %data)
  %wide = zext i32 %new to i64
  ret i64 %wide
}
declare i64 @llvm.x86.sse42.crc32.64.64(i64, i64)
declare i32 @llvm.x86.sse42.crc32.32.32(i32, i32)
declare i32 @llvm.x86.sse42.crc32.32.8(i32, i8)
